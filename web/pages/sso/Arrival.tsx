import { useEffect } from 'preact/hooks'
import type { PendingSsoLogin } from '@countersign/protocol/organizations/sso'
import { Choice } from '../../components/form/ChooseIdentity.tsx'
import { Actions } from '../../components/form/Actions.tsx'
import { Authenticate } from '../../components/unlock/Authenticate.tsx'
import { type ActionState, useActions } from '../../components/form/use-actions.ts'
import { PageLayout, StepHeading } from '../../components/frame/Frame.tsx'
import { ErrorMessage } from '../../components/form/Dialog.tsx'
import { useMessages } from '../../components/frame/Root.tsx'
import { Spinner } from '../../components/display/Facts.tsx'
import { readSiteSettings } from '../../lib/page-data.ts'
import { useFlow } from './flow.ts'
import { Over } from './Over.tsx'

/** Links a user to their account at the organization's identity provider, if there is no link yet. */
export function LinkSsoAccount() {
  const words = useMessages().sso
  const doing = useActions()
  const flow = useFlow()
  useEffect(() => void doing.perform({ name: 'look', do: flow.look }), [])
  return (
    <PageLayout title={words.connectTitle} step={flow.step.at}>
      <section class="step">
        <CurrentStep flow={flow} doing={doing} />
      </section>
    </PageLayout>
  )
}

function CurrentStep({ flow, doing }: { flow: ReturnType<typeof useFlow>; doing: ActionState }) {
  const { account, signin } = useMessages()
  const { step } = flow
  switch (step.at) {
    case 'look':
      if (doing.problem === undefined) return <Spinner />
      return <Actions of={[{ name: 'retry', label: account.retry, do: flow.look }]} doing={doing} />
    case 'over':
      return <Over />
    case 'tested':
      return <Tested {...step} />
    case 'authenticate':
      return (
        <>
          <Named {...step} />
          <Authenticate
            returnTo={`${location.pathname}${location.search}`}
            doing={doing}
            onSignedIn={({ identities }) => flow.signedIn(identities)}
          />
        </>
      )
    case 'choose identity':
      return (
        <>
          <Named {...step} />
          <StepHeading level={2}>{signin.choose}</StepHeading>
          <ul class="choices">
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
  const words = useMessages().sso
  return (
    <>
      <h1>{words.says(organization.name, person.email ?? person.displayName ?? person.subject)}</h1>
      <p class="lead">{words.connectOnce(organization.name)}</p>
      {!mayJoin && <p>{words.membersOnly(organization.name)}</p>}
    </>
  )
}

function Tested({
  arrival: { organization, subject, email, emailVerified, displayName },
}: {
  arrival: PendingSsoLogin
}) {
  const words = useMessages().sso
  const address = email === null ? words.nothing : emailVerified ? words.verified(email) : words.unverified(email)
  const facts = { [words.subject]: subject, [words.address]: address, [words.name]: displayName ?? words.nothing }
  return (
    <>
      <StepHeading>{words.tested}</StepHeading>
      <p class="lead">{words.testedLead(organization.name)}</p>
      <dl class="facts">
        {Object.entries(facts).map(([label, value]) => (
          <div key={label} class="fact">
            <dt>{label}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {!emailVerified && <p>{words.unverifiedHint}</p>}
      <p>
        <a class="button secondary" href={`${readSiteSettings().businessUrl}/organizations`}>
          {words.toOrganizations}
        </a>
      </p>
    </>
  )
}
