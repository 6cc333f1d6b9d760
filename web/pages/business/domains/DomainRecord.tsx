import type { OrganizationDomain } from '@countersign/protocol/organizations/domains'
import { CopyableFields } from '../../../components/display/Copies.tsx'
import { useBusinessMessages } from '../words.ts'

type Props = { of: OrganizationDomain }

/** Shows the DNS record that verifies a domain, for copying. */
export function DomainRecord({ of: { domain, challenge } }: Props) {
  const { name, value } = challenge
  const { domains: words } = useBusinessMessages()
  const parts = [
    { label: words.recordName, value: name, action: 'copy-record-name' },
    { label: words.recordValue, value, action: 'copy-record-value' },
  ]
  return <CopyableFields of={parts} owner={domain} />
}
