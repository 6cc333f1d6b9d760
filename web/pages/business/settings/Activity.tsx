import type { OrganizationAuditEntry } from '@countersign/protocol/operations/audit'
import { useEffect, useState } from 'preact/hooks'
import { momentOf } from '../../../lib/text/dates.ts'
import { downloadFile } from '../../../lib/download.ts'
import { Actions } from '../../../components/form/Actions.tsx'
import { Select } from '../../../components/form/Choice.tsx'
import { useActions, type Action } from '../../../components/form/use-actions.ts'
import { useLocale } from '../../../components/frame/Root.tsx'
import { Spinner } from '../../../components/display/Facts.tsx'
import { memberContext } from '../session/membership.ts'
import type { SectionProps } from '../OrganizationPage.tsx'
import { callBusiness, callBusinessForText } from '../session/session.ts'
import { useBusinessMessages } from '../words.ts'

/** The filters of the audit log: all events, or the prefix of the action. */
const kinds = ['all', 'organization.member', 'organization.invitation', 'organization.domain', 'sso', 'scim'] as const
type Kind = (typeof kinds)[number]

const formats = { csv: 'text/csv', jsonl: 'application/jsonl' } as const

type Props = Pick<SectionProps, 'organization'>

/** Shows the audit log of an organization page by page, and exports it. */
export function Activity({ organization }: Props) {
  const words = useBusinessMessages()
  const doing = useActions()
  const savingTrail = useActions()
  const [kind, setKind] = useState<Kind>('all')
  const save = (format: keyof typeof formats): Action => ({
    name: `save-${format}`,
    label: words.trail.saveAs[format],
    look: 'secondary',
    do: async () => {
      const { params, querystring } = requested(organization, kind)
      const given = { params, querystring: { ...querystring, format } }
      const text = await callBusinessForText('GET /api/organizations/:organizationId/audit/export', given)
      downloadFile(text, formats[format], `${organization.slug}.${format}`)
    },
  })
  const saveTrail: Action = {
    name: 'save-trail',
    label: words.trail.saveTrail,
    look: 'secondary',
    do: async () => {
      const text = await callBusinessForText(
        'GET /api/organizations/:organizationId/trail',
        memberContext(organization),
      )
      downloadFile(text, formats.jsonl, `${organization.slug}-trail.jsonl`)
    },
  }
  return (
    <section class="step">
      <h1>{words.sections.activity}</h1>
      <Select
        name="kind"
        label={words.trail.show}
        of={kinds.map((value) => ({ value, label: words.trail.kinds[value] }))}
        chosen={kind}
        onChoose={setKind}
      />
      <Trail key={kind} organization={organization} kind={kind} />
      <Actions of={[save('csv'), save('jsonl')]} doing={doing} />
      <p class="hint">{words.trail.trailWhy}</p>
      <Actions of={[saveTrail]} doing={savingTrail} />
    </section>
  )
}

type Page = { entries: OrganizationAuditEntry[]; nextCursor: string | null }

function Trail({ organization, kind }: Props & { kind: Kind }) {
  const { words } = useLocale()
  const { trail: trailWords } = useBusinessMessages()
  const doing = useActions()
  const [trail, setTrail] = useState<Page>()
  const more: Action = {
    name: 'more',
    label: words.activity.more,
    look: 'secondary',
    do: async () => {
      const { params, querystring } = requested(organization, kind)
      const cursor = trail?.nextCursor
      const given = { params, querystring: { ...querystring, ...(cursor && { cursor }) } }
      const page = await callBusiness('GET /api/organizations/:organizationId/audit', given)
      setTrail({ ...page, entries: [...(trail?.entries ?? []), ...page.entries] })
    },
  }
  useEffect(() => void doing.perform(more), [])
  const mayHaveMore = trail ? trail.nextCursor !== null : doing.problem !== undefined
  return (
    <>
      {!trail && doing.problem === undefined && <Spinner />}
      {trail?.entries.length === 0 && <p class="lead">{trailWords.nothing}</p>}
      <ul class="entries">
        {trail?.entries.map((entry) => (
          <Entry key={entry.entryId} of={entry} />
        ))}
      </ul>
      <Actions of={mayHaveMore ? [more] : []} doing={doing} />
    </>
  )
}

function Entry({ of: { action, at, handle } }: { of: OrganizationAuditEntry }) {
  const { words, language } = useLocale()
  const acts: Partial<Record<string, string>> = words.activity.acts
  const facts = [momentOf(at, language), handle !== null && `@${handle}`]
  return (
    <li class="entry">
      <div>
        <h2>{acts[action] ?? words.activity.other}</h2>
        <p>{facts.filter(Boolean).join(' · ')}</p>
      </div>
    </li>
  )
}

function requested(organization: Props['organization'], kind: Kind) {
  const { params, querystring } = memberContext(organization)
  return { params, querystring: { ...querystring, ...(kind !== 'all' && { action: kind }) } }
}
