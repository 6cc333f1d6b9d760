import { useEffect } from 'preact/hooks'
import type { PendingSsoLogin } from '@countersign/protocol/organizations/sso'
import { Choice } from '../../components/form/ChooseIdentity.tsx'
import { Actions } from '../../components/form/Actions.tsx'
import { Authenticate } from '../../components/unlock/Authenticate.tsx'
import { type ActionState, useActions } from '../../components/form/use-actions.ts'
import { usePageWords } from './words.ts'
import { PageLayout, StepHeading } from '../../components/frame/Frame.tsx'
import { ErrorMessage } from '../../components/form/Dialog.tsx'
import { useConsentMessages } from '../../components/form/consent-words.ts'
import { Avatar } from '../../components/ui/Avatar.tsx'
import { Note } from '../../components/ui/Chip.tsx'
import { Facts } from '../../components/ui/Facts.tsx'
import { Icon } from '../../components/ui/Icon.tsx'
import { Spinner } from '../../components/display/Facts.tsx'
import { readSiteSettings } from '../../lib/page-data.ts'
import { useFlow } from './flow.ts'
import { Over } from './Over.tsx'

/** Links a user to their account at the organization's identity provider, if there is no link yet. */
export function LinkSsoAccount() {
  const words = usePageWords()
  const doing = useActions()
  const flow = useFlow()
  useEffect(() => void doing.perform({ name: 'look', do: flow.look }), [])
  return (
    <PageLayout title={words.connectTitle} step={flow.step.at} where>
      <CurrentStep flow={flow} doing={doing} />
    </PageLayout>
  )
}

function CurrentStep({ flow, doing }: { flow: ReturnType<typeof useFlow>; doing: ActionState }) {
  const { frame, signin } = useConsentMessages()
  const { step } = flow
  switch (step.at) {
    case 'look':
      if (doing.problem === undefined) return <Spinner />
      return <Actions of={[{ name: 'retry', label: frame.retry, do: flow.look }]} doing={doing} />
    case 'over':
      return <Over />
    case 'tested':
      return <Tested {...step} />
    case 'authenticate':
      return (
        <>
          <Named {...step} />
          <Authenticate returnTo={`${location.pathname}${location.search}`} doing={doing} onSignedIn={flow.signedIn} />
        </>
      )
    case 'choose identity':
      return (
        <>
          <Named {...step} />
          <StepHeading level={2}>{signin.choose}</StepHeading>
          <ul class="stack">
            {step.identities.map((identity) => (
              <li key={identity.identityId}>
                <Choice identity={identity} doing={doing} onChoose={flow.connect} />
              </li>
            ))}
          </ul>
          <ErrorMessage of={doing.problem} />
        </>
      )
  }
}

function Named({ arrival: { organization, mayJoin, ...person } }: { arrival: PendingSsoLogin }) {
  const words = usePageWords()
  return (
    <>
      <header class="app-head">
        <Avatar name={organization.name} kind="organization" toneOf={organization.id} size="lg" />
        <h1>{words.says(organization.name, person.email ?? person.displayName ?? person.subject)}</h1>
      </header>
      <p class="lead">{words.connectOnce(organization.name)}</p>
      {!mayJoin && <Note tone="wait">{words.membersOnly(organization.name)}</Note>}
    </>
  )
}

function Tested({
  arrival: { organization, subject, email, emailVerified, displayName },
}: {
  arrival: PendingSsoLogin
}) {
  const words = usePageWords()
  const address = email === null ? words.nothing : emailVerified ? words.verified(email) : words.unverified(email)
  const facts = [
    { label: words.subject, value: subject },
    { label: words.address, value: address },
    { label: words.name, value: displayName ?? words.nothing },
  ]
  return (
    <>
      <span class="glyph ok">
        <Icon name="circle-check" />
      </span>
      <div class="stack tight">
        <StepHeading>{words.tested}</StepHeading>
        <p class="lead">{words.testedLead(organization.name)}</p>
      </div>
      <Facts of={facts} isRuled />
      {!emailVerified && <Note tone="wait">{words.unverifiedHint}</Note>}
      <a class="button big block" href={`${readSiteSettings().businessUrl}/organizations`}>
        {words.toOrganizations}
      </a>
    </>
  )
}
