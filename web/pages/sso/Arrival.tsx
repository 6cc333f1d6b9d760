import { useEffect } from 'preact/hooks'
import type { SsoArrival } from '@countersign/protocol/organizations/sso'
import { Choice } from '../../components/form/ChooseIdentity.tsx'
import { Actions } from '../../components/form/Actions.tsx'
import { Authenticate } from '../../components/unlock/Authenticate.tsx'
import { useDoing, type Doing } from '../../components/form/doing.ts'
import { Frame } from '../../components/frame/Frame.tsx'
import { Problem } from '../../components/form/Problem.tsx'
import { useWords } from '../../components/frame/Root.tsx'
import { StepHeading } from '../../components/frame/StepHeading.tsx'
import { Waiting } from '../../components/display/Waiting.tsx'
import { readSite } from '../../lib/view.ts'
import { useFlow } from './flow.ts'
import { Over } from './Over.tsx'

/** Where people are whom their organization's provider has named, and who are nobody here by that yet. */
export function Arrival() {
  const words = useWords().sso
  const doing = useDoing()
  const flow = useFlow()
  useEffect(() => void doing.perform({ name: 'look', do: flow.look }), [])
  return (
    <Frame title={words.connectTitle} step={flow.step.at}>
      <section class="step">
        <CurrentStep flow={flow} doing={doing} />
      </section>
    </Frame>
  )
}

function CurrentStep({ flow, doing }: { flow: ReturnType<typeof useFlow>; doing: Doing }) {
  const { account, signin } = useWords()
  const { step } = flow
  switch (step.at) {
    case 'look':
      if (doing.problem === undefined) return <Waiting />
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
          <Problem of={doing.problem} />
        </>
      )
  }
}

function Named({ arrival: { organization, mayJoin, ...person } }: { arrival: SsoArrival }) {
  const words = useWords().sso
  return (
    <>
      <h1>{words.says(organization.name, person.email ?? person.displayName ?? person.subject)}</h1>
      <p class="lead">{words.connectOnce(organization.name)}</p>
      {!mayJoin && <p>{words.membersOnly(organization.name)}</p>}
    </>
  )
}

function Tested({ arrival: { organization, subject, email, emailVerified, displayName } }: { arrival: SsoArrival }) {
  const words = useWords().sso
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
        <a class="button secondary" href={`${readSite().businessUrl}/organizations`}>
          {words.toOrganizations}
        </a>
      </p>
    </>
  )
}
