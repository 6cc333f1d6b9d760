import type { Council, CouncilSignatory } from '@countersign/protocol/organizations/council'
import type { OrganizationMember, OwnOrganization } from '@countersign/protocol/organizations/organizations'
import { useLocale } from '../../../components/frame/Root.tsx'
import { ErrorMessage } from '../../../components/form/Dialog.tsx'
import { type Action, useActions } from '../../../components/form/use-actions.ts'
import { dayOf } from '../../../lib/text/dates.ts'
import { act } from '../session/acts.ts'
import { ApprovalsNote } from '../session/ApprovalsNote.tsx'
import { memberContext } from '../session/membership.ts'
import { useBusinessMessages } from '../words.ts'
import { useCouncilMessages } from './words.ts'
import { Card } from '../../../components/ui/Card.tsx'
import { atHandle } from '../../../lib/text/handle.ts'

const path = '/api/organizations/:organizationId/council/signatories'

type SignatoriesProps = { organization: OwnOrganization; council: Council }

/** Lists the signatories. Owners suspend one alone; to restore one needs the approvals of others. */
export function Signatories({ organization, council }: SignatoriesProps) {
  const words = useCouncilMessages()
  const mayRestore =
    organization.scopes.includes('manage_identities') && council.signatories.some((each) => each.suspendedAt !== null)
  return (
    <Card title={words.signatories}>
      {mayRestore && <ApprovalsNote organization={organization} />}
      <ul class="entries">
        {council.signatories.map((each) => (
          <Signatory key={each.identityId} of={each} organization={organization} />
        ))}
      </ul>
    </Card>
  )
}

function Signatory({ of: signatory, organization }: { of: CouncilSignatory; organization: OwnOrganization }) {
  const words = useCouncilMessages()
  const { scopes: may } = useBusinessMessages()
  const { language } = useLocale()
  const { identityId, handle, displayName, maySign, mayApprove, admittedAt, suspendedAt } = signatory
  const day = (instant: string) => dayOf(instant, language, new Date())
  const facts = [
    atHandle(handle),
    maySign && may.sign,
    mayApprove && may.approve,
    suspendedAt === null ? words.since(day(admittedAt)) : words.suspended(day(suspendedAt)),
  ]
  const { params, querystring } = memberContext(organization)
  const suspend: Action = {
    name: `suspend-${handle}`,
    label: words.suspend,
    do: () => act(`DELETE ${path}/:identityId`, { params: { ...params, identityId }, querystring, body: null }),
  }
  const restore: Action = {
    name: `restore-${handle}`,
    label: words.restore,
    do: () => act(`POST ${path}`, { params, querystring, body: { identityId } }),
  }
  const isOwner = organization.role === 'owner'
  const mayAdmit = organization.scopes.includes('manage_identities')
  const inForce = suspendedAt === null
  const actions = inForce ? (isOwner ? [suspend] : []) : mayAdmit ? [restore] : []
  const label = inForce ? words.suspendWho(handle) : words.restoreWho(handle)
  return <Person name={displayName} facts={facts} actions={actions} label={label} />
}

type CandidatesProps = { organization: OwnOrganization; members: OrganizationMember[] }

/** Returns whether a council could admit a member to sign: the permission alone has no effect. */
export function canSign({ scopes, signingAuthority }: OrganizationMember): boolean {
  return signingAuthority && scopes.includes('sign')
}

/** Lists members whose permissions to sign or approve have no effect until the council admits them. */
export function Candidates({ organization, members }: CandidatesProps) {
  const words = useCouncilMessages()
  const { scopes: may } = useBusinessMessages()
  if (members.length === 0) return null
  const { params, querystring } = memberContext(organization)
  const admit = ({ handle, identityId }: OrganizationMember): Action => ({
    name: `admit-${handle}`,
    label: words.admit,
    do: () => act(`POST ${path}`, { params, querystring, body: { identityId } }),
  })
  const mayAdmit = organization.scopes.includes('manage_identities')
  return (
    <Card title={words.candidates}>
      <p>{words.candidatesWhat}</p>
      {mayAdmit && <ApprovalsNote organization={organization} />}
      <ul class="entries">
        {members.map((member) => (
          <Person
            key={member.identityId}
            name={member.displayName}
            facts={[
              atHandle(member.handle),
              canSign(member) && may.sign,
              member.scopes.includes('approve') && may.approve,
            ]}
            actions={mayAdmit ? [admit(member)] : []}
            label={words.admitWho(member.handle)}
          />
        ))}
      </ul>
    </Card>
  )
}

type PersonProps = { name: string; facts: (string | false)[]; actions: Action[]; label: string }

function Person({ name, facts, actions, label }: PersonProps) {
  const doing = useActions()
  return (
    <li class="entry">
      <div>
        <h3 class="written-name">{name}</h3>
        <p>{facts.filter(Boolean).join(' · ')}</p>
        <ErrorMessage of={doing.problem} />
      </div>
      {actions.map((action) => (
        <button
          key={action.name}
          type="button"
          class="button quiet"
          aria-label={label}
          data-action={action.name}
          aria-busy={doing.current === action.name}
          aria-disabled={doing.current !== undefined}
          onClick={() => void doing.perform(action)}
        >
          {action.label}
        </button>
      ))}
    </li>
  )
}
