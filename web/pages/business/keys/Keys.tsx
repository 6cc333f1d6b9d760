import type { OrganizationKey } from '@countersign/protocol/organizations/keys'
import { useEffect, useState } from 'preact/hooks'
import { Refused } from '../../../lib/call.ts'
import { Actions } from '../../../components/form/Actions.tsx'
import { useDoing, type Action } from '../../../components/form/doing.ts'
import { Waiting } from '../../../components/display/Waiting.tsx'
import { useGuardedQuestion } from '../session/asking.ts'
import { FormerKeys } from './FormerKeys.tsx'
import { KeyInForce } from './KeyInForce.tsx'
import { KeyKeeper } from './KeyKeeper.tsx'
import { asMember } from '../session/memberships.ts'
import { NewKeeper } from './NewKeeper.tsx'
import type { SectionProps } from '../OrganizationPage.tsx'
import { callBusiness } from '../session/session.ts'
import { useBusinessWords } from '../words.ts'

type Found = { keys: OrganizationKey[]; kmsUrl: string | undefined }

/** The key of an organization: who has it, whether it is time for another one, and who keeps that. */
export function Keys({ organization, onChanged }: SectionProps) {
  const words = useBusinessWords()
  const doing = useDoing()
  const changing = useGuardedQuestion('keeper')
  const [found, setFound] = useState<Found>()
  const read: Action = { name: 'retry', label: words.retry, do: async () => setFound(await readAll(organization)) }
  useEffect(() => void doing.perform(read), [])
  const take = async (changed: typeof organization) => {
    setFound(await readAll(changed))
    changing.close()
    onChanged(changed)
  }
  return (
    <section class="step">
      <h1>{words.sections.keys}</h1>
      <p>{words.keys.what}</p>
      {found === undefined && (doing.problem === undefined ? <Waiting /> : <Actions of={[read]} doing={doing} />)}
      {found &&
        (changing.asked ? (
          <NewKeeper organization={organization} kmsUrl={found.kmsUrl} onKept={take} onClose={changing.close} />
        ) : (
          <>
            <KeyInForce keys={found.keys} organization={organization} onMade={read.do} />
            <KeyKeeper organization={organization} {...found} onChange={changing.ask} onRemoved={read.do} />
            <FormerKeys keys={found.keys} organization={organization} onDeleted={read.do} />
          </>
        ))}
    </section>
  )
}

async function readAll(organization: SectionProps['organization']): Promise<Found> {
  const given = asMember(organization)
  const { keys } = await callBusiness('GET /api/organizations/:organizationId/keys', given)
  return { keys, kmsUrl: await readKmsUrl(given) }
}

/** Where the KMS of the organization is, which may be there without keeping anything. */
async function readKmsUrl(given: ReturnType<typeof asMember>): Promise<string | undefined> {
  try {
    return (await callBusiness('GET /api/organizations/:organizationId/kms', given)).kms.url
  } catch (error) {
    if (error instanceof Refused && error.code === 'kms_not_found') return undefined
    throw error
  }
}
