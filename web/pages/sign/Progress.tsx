import type { SigningRequest } from '@countersign/protocol/signing/signing'
import { useWords } from '../../components/frame/Root.tsx'

type Props = { organization: NonNullable<SigningRequest['organization']> }

/** How far an organization is: who has signed and approved, and how many approvals it takes. */
export function Progress({ organization: { answers, approvals, approvalsNeeded } }: Props) {
  const { ofOrganization: words } = useWords().sign
  return (
    <div class="progress">
      {approvalsNeeded > 0 && <p>{words.approvals(approvals, approvalsNeeded)}</p>}
      {answers.length > 0 && (
        <ul>
          {answers.map(({ memberId, handle, role }) => (
            <li key={memberId}>{words.did[role](handle === null ? words.somebody : `@${handle}`)}</li>
          ))}
        </ul>
      )}
    </div>
  )
}
