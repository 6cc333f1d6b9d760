import type { OrganizationDomain } from '@countersign/protocol/organizations/domains'
import { Question } from '../session/Question.tsx'
import { useBusinessWords } from '../words.ts'

type Props = { claim: OrganizationDomain; onAgreed: () => Promise<void>; onClose: () => void }

/** Says what ends with a domain. */
export function RemoveDomain({ claim: { domain, status }, onAgreed, onClose }: Props) {
  const { domains: words } = useBusinessWords()
  return (
    <Question
      title={words.removeTitle(domain)}
      agree={{ name: 'remove-domain', label: words.removeNow, do: onAgreed }}
      onClose={onClose}
    >
      {status === 'pending' ? words.removePending : words.removeWhat}
    </Question>
  )
}
