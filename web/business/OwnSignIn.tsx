import type { OwnOrganization } from '@countersign/protocol/organizations'
import type { ComponentChildren } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Refused } from '../call.ts'
import { Actions } from '../ui/Actions.tsx'
import { useDoing, type Action } from '../ui/doing.ts'
import { useWords } from '../ui/Root.tsx'
import { StepHeading } from '../ui/StepHeading.tsx'
import { Waiting } from '../ui/Waiting.tsx'
import { asMember } from './memberships.ts'
import { callBusiness } from './session.ts'
import { useBusinessWords } from './words.ts'

type Props = { organization: OwnOrganization; children: ComponentChildren }

/** Whether the person has come through the organization's own sign-in, or where that begins. */
type Entry = { at: 'inside' } | { at: 'outside'; loginUrl: string }

/** What is inside an organization; where it asks for its own sign-in, that comes first, and leads back here. */
export function OwnSignIn({ organization, children }: Props) {
  const words = useBusinessWords()
  const { signin } = useWords()
  const doing = useDoing()
  // Owners are let in without it, and the trail tells of that: no call is made to find it out.
  const mayBeAsked = organization.ssoRequired && organization.role !== 'owner'
  const [entry, setEntry] = useState<Entry | undefined>(mayBeAsked ? undefined : { at: 'inside' })
  const enter: Action = {
    name: 'retry',
    label: words.retry,
    do: async () => setEntry(await readEntry(organization)),
  }
  useEffect(() => void (entry === undefined && doing.perform(enter)), [])
  if (entry?.at === 'inside') return <>{children}</>
  if (entry === undefined) return doing.problem === undefined ? <Waiting /> : <Actions of={[enter]} doing={doing} />

  const leave: Action = {
    name: 'sign-in-there',
    label: signin.continueWith(organization.name),
    do: () => location.assign(thereAndBack(entry.loginUrl)),
  }
  return (
    <section class="step">
      <StepHeading>{signin.asksForItsOwn(organization.name)}</StepHeading>
      <Actions of={[leave]} doing={doing} />
    </section>
  )
}

async function readEntry(organization: OwnOrganization): Promise<Entry> {
  try {
    await callBusiness('GET /api/organizations/:organizationId', asMember(organization))
    return { at: 'inside' }
  } catch (error) {
    const asks = error instanceof Refused && error.code === 'enterprise_sso_required'
    if (!asks || typeof error.fields['loginUrl'] !== 'string') throw error
    return { at: 'outside', loginUrl: error.fields['loginUrl'] }
  }
}

function thereAndBack(loginUrl: string): string {
  const there = new URL(loginUrl)
  there.searchParams.set('return_to', location.href)
  return there.href
}
