import type { OrganizationKey } from '@countersign/protocol/organizations/keys'
import { PageHead } from '../../../components/frame/Frame.tsx'
import { Card, Skeleton } from '../../../components/ui/Card.tsx'
import { useEffect, useState } from 'preact/hooks'
import { ApiError } from '../../../lib/api/call.ts'
import { Actions } from '../../../components/form/Actions.tsx'
import { type Action, useActions } from '../../../components/form/use-actions.ts'
import { callBusiness, useReauthenticatedDialog } from '../session/session.ts'
import { PreviousKeys } from './FormerKeys.tsx'
import { ActiveKey } from './KeyInForce.tsx'
import { ChangeKeyCustody, KeyCustody } from './KeyCustodian.tsx'
import { memberContext } from '../session/membership.ts'
import type { SectionProps } from '../OrganizationPage.tsx'
import { useBusinessMessages } from '../words.ts'

type Found = { keys: OrganizationKey[]; kmsUrl: string | undefined }

/**
 * The keys of an organization: which members have the current one, whether to replace it, and who stores the next one.
 * A member who has just signed the URL of a KMS can then store keys there, which is a change of its own.
 */
export function Keys({ organization, onChanged, returned }: SectionProps) {
  const words = useBusinessMessages()
  const doing = useActions()
  const changing = useReauthenticatedDialog('keeper')
  const [found, setFound] = useState<Found>()
  const [goesOn, setGoesOn] = useState(
    returned?.action === 'organization.kms.updated' &&
      returned.outcome === 'done' &&
      organization.encryptionMode !== 'enterprise_managed',
  )
  const close = () => {
    setGoesOn(false)
    changing.close()
  }
  const read: Action = { name: 'retry', label: words.retry, do: async () => setFound(await readAll(organization)) }
  useEffect(() => void doing.perform(read), [])
  const take = async (changed: typeof organization) => {
    setFound(await readAll(changed))
    close()
    onChanged(changed)
  }
  return (
    <>
      <PageHead title={words.sections.keys} lead={words.keys.what} />
      {found === undefined && (
        <Card flush>{doing.problem === undefined ? <Skeleton rows={2} /> : <Actions of={[read]} doing={doing} />}</Card>
      )}
      {found &&
        (changing.isOpen || goesOn ? (
          <Card>
            <ChangeKeyCustody
              organization={organization}
              kmsUrl={found.kmsUrl}
              mode={goesOn ? 'enterprise_managed' : organization.encryptionMode}
              onSaved={take}
              onClose={close}
            />
          </Card>
        ) : (
          <>
            <Card>
              <ActiveKey keys={found.keys} organization={organization} onMade={read.do} />
            </Card>
            <KeyCustody organization={organization} {...found} onChange={changing.open} onRemoved={read.do} />
            <PreviousKeys keys={found.keys} organization={organization} onDeleted={read.do} />
          </>
        ))}
    </>
  )
}

async function readAll(organization: SectionProps['organization']): Promise<Found> {
  const given = memberContext(organization)
  const { keys } = await callBusiness('GET /api/organizations/:organizationId/keys', given)
  return { keys, kmsUrl: await readKmsUrl(given) }
}

/** Returns the URL of the organization's KMS. It may be configured without storing a key. */
async function readKmsUrl(given: ReturnType<typeof memberContext>): Promise<string | undefined> {
  try {
    return (await callBusiness('GET /api/organizations/:organizationId/kms', given)).kms.url
  } catch (error) {
    if (error instanceof ApiError && error.code === 'kms_not_found') return undefined
    throw error
  }
}
