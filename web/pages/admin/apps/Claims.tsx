import type { ClaimMapping, ClaimsPreview } from '@countersign/protocol/clients/claims'
import { pageLimits } from '@countersign/protocol/formats/registries/page-limits'
import { useState } from 'preact/hooks'
import { Field } from '../../../components/form/Field.tsx'
import { ActionForm } from '../../../components/form/Actions.tsx'
import { Dialog } from '../../../components/form/Dialog.tsx'
import { useActions } from '../../../components/form/use-actions.ts'
import { Card, Empty } from '../../../components/ui/Card.tsx'
import { Note } from '../../../components/ui/Chip.tsx'
import { CodeBlock } from '../../../components/ui/Code.tsx'
import { Icon } from '../../../components/ui/Icon.tsx'
import { formatNumber } from '../../../lib/text/dates.ts'
import { joinValues } from '../../../lib/text/lists.ts'
import { CommandLine } from '../acting/CommandLine.tsx'
import { findIdentityId } from '../acting/find-identity.ts'
import { useOperator } from '../acting/operator.ts'
import { useAppsMessages } from './words.ts'

/** The mapped claims of an app, and a preview of what it learns about a user. */
export function Claims({ clientId, of: mapped }: { clientId: string; of: ClaimMapping[] }) {
  const { claims: words } = useAppsMessages()
  const { may } = useOperator()
  const [isOpen, setOpen] = useState(false)
  return (
    <Card
      flush
      title={words.title}
      about={words.about}
      actions={
        may('apps.manage') &&
        may('people.read') && (
          <button type="button" class="button" data-action="ask-preview-claims" onClick={() => setOpen(true)}>
            <Icon name="eye" size="sm" />
            {words.preview}
          </button>
        )
      }
    >
      {mapped.length === 0 ? (
        <Empty icon="scroll-text" title={words.none}>
          <p>
            {words.noneWhat} <code dir="ltr">countersign apps claims set</code>
          </p>
        </Empty>
      ) : (
        <ul class="list">
          {mapped.map((mapping) => (
            <ClaimRow key={mapping.claim} of={mapping} />
          ))}
        </ul>
      )}
      {isOpen && <Preview clientId={clientId} onClose={() => setOpen(false)} />}
    </Card>
  )
}

function ClaimRow({ of: { claim, source, scope, in: places } }: { of: ClaimMapping }) {
  const { claims: words } = useAppsMessages()
  return (
    <li>
      <span class="glyph sm">
        <Icon name="scroll-text" size="sm" />
      </span>
      <div class="body">
        <code dir="ltr">{claim}</code>
        <small>
          {words.source} <code dir="ltr">{source}</code>
        </small>
        <small>
          {words.scope} <code dir="ltr">{scope}</code> · {joinValues(places.map((place) => words.places[place]))}
        </small>
      </div>
    </li>
  )
}

function Preview({ clientId, onClose }: { clientId: string; onClose: () => void }) {
  const { claims: words } = useAppsMessages()
  const operator = useOperator()
  const doing = useActions()
  const [handle, setHandle] = useState('')
  const [isChecked, setChecked] = useState(false)
  const [shown, setShown] = useState<ClaimsPreview>()
  const written = handle.trim()
  const show = {
    name: 'preview-claims',
    label: words.show,
    do: async () => {
      setChecked(true)
      setShown(undefined)
      if (written === '') return
      const body = { identityId: await findIdentityId(operator, written) }
      setShown(await operator.ask('POST /api/admin/apps/:clientId/claims/preview', { params: { clientId }, body }))
    },
  }
  return (
    <Dialog title={words.previewTitle} onClose={onClose}>
      <ActionForm submit={show} others={[]} doing={doing}>
        <Field
          name="handle"
          label={words.handle}
          value={handle}
          onInput={setHandle}
          problem={isChecked && written === '' ? words.handleMissing : undefined}
          exact
        />
        {shown && <Shown of={shown} />}
        <CommandLine words={['apps', 'claims', 'preview', clientId, written || '…']} />
      </ActionForm>
    </Dialog>
  )
}

const places = [
  { name: 'idToken', place: 'id_token', max: pageLimits.assignedClaimsBytesMax },
  { name: 'userinfo', place: 'userinfo', max: pageLimits.answerClaimsBytesMax },
  { name: 'accessToken', place: 'access_token', max: pageLimits.assignedClaimsBytesMax },
] as const

function Shown({ of: preview }: { of: ClaimsPreview }) {
  const { claims: words } = useAppsMessages()
  return (
    <div class="stack" role="status">
      {!preview.hasAccess && <Note tone="bad">{words.noAccess}</Note>}
      {preview.omitted.length > 0 && <Note tone="wait">{words.omitted(joinValues(preview.omitted))}</Note>}
      {places.map(({ name, place, max }) => (
        <div key={name} class="stack tight">
          <CodeBlock
            label={words.places[place]}
            code={JSON.stringify(preview[name], null, 2)}
            action={`copy-${name}`}
          />
          <p class="small soft">{words.size(formatNumber(preview.bytes[name]), formatNumber(max))}</p>
        </div>
      ))}
    </div>
  )
}
