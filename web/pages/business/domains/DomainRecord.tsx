import type { OrganizationDomain } from '@countersign/protocol/organizations/domains'
import { Copies } from '../../../components/display/Copies.tsx'
import { useBusinessWords } from '../words.ts'

/** The record that proves a domain, to copy. */
export function DomainRecord({ of: { name, value } }: { of: OrganizationDomain['challenge'] }) {
  const { domains: words } = useBusinessWords()
  const parts = [
    { label: words.recordName, value: name, action: 'copy-record-name' },
    { label: words.recordValue, value, action: 'copy-record-value' },
  ]
  return <Copies of={parts} />
}
