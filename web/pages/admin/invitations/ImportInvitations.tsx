import type { InvitationImport, InvitationImportRow } from '@countersign/protocol/accounts/invitations'
import { pageLimits } from '@countersign/protocol/formats/registries/page-limits'
import { useId, useState } from 'preact/hooks'
import { ActionForm } from '../../../components/form/Actions.tsx'
import { Dialog } from '../../../components/form/Dialog.tsx'
import { type Action, useActions } from '../../../components/form/use-actions.ts'
import { useMessages } from '../../../components/frame/Root.tsx'
import { toast } from '../../../components/frame/toast.ts'
import { Facts } from '../../../components/ui/Facts.tsx'
import { formatNumber } from '../../../lib/text/dates.ts'
import { CommandLine } from '../acting/CommandLine.tsx'
import { useOperator } from '../acting/operator.ts'
import { useInvitationsMessages } from './words.ts'

type Props = { onDone: () => void; onClose: () => void }

/** A file as it was read once: what was checked is what is sent. */
type Chosen = { name: string; content: Blob; checked: InvitationImport }

const endpoint = 'POST /api/admin/invitations/import'
const faultsShown = 100

/** Invites the people of a file: choose it, see what is wrong in it, send. */
export function ImportInvitations({ onDone, onClose }: Props) {
  const { importing: words } = useInvitationsMessages()
  const { frame } = useMessages()
  const { askWithFile } = useOperator()
  const doing = useActions()
  const [chosen, setChosen] = useState<Chosen>()
  const [problem, setProblem] = useState<string>()
  const choose = async (file: File) => {
    setChosen(undefined)
    setProblem(file.size > pageLimits.invitationImportBytesMax ? words.tooLarge : undefined)
    if (file.size > pageLimits.invitationImportBytesMax) return
    const content = new Blob([await file.arrayBuffer()], { type: 'text/csv' })
    const checked = await askWithFile(endpoint, { querystring: { dryRun: 'true' } }, content)
    setChosen({ name: file.name, content, checked })
  }
  const { checked } = chosen ?? {}
  const hasFaults = checked !== undefined && checked.failed > 0
  const send: Action = {
    name: 'send-import',
    label: hasFaults ? words.sendOthers : words.send,
    do: async () => {
      if (!chosen) return setProblem((shown) => shown ?? words.missing)
      if (chosen.checked.ok === 0) return setProblem(words.nothing)
      const querystring = { dryRun: 'false', onError: hasFaults ? 'skip' : 'abort' } as const
      await askWithFile(endpoint, { querystring }, chosen.content)
      onDone()
      toast(words.sent)
    },
  }
  const cancel: Action = { name: 'cancel', label: frame.cancel, look: 'secondary', do: onClose }
  const command = ['invitations', 'import', chosen?.name ?? 'people.csv', ...(hasFaults ? ['--skip-errors'] : [])]
  return (
    <Dialog title={words.title} onClose={onClose}>
      <ActionForm submit={send} others={[cancel]} doing={doing}>
        <FileField
          problem={problem}
          onChoose={(file) => void doing.perform({ name: 'check-import', do: () => choose(file) })}
        />
        {checked && <Checked of={checked} />}
        <CommandLine words={command} />
      </ActionForm>
    </Dialog>
  )
}

function FileField({ problem, onChoose }: { problem: string | undefined; onChoose: (file: File) => void }) {
  const { importing: words } = useInvitationsMessages()
  const id = useId()
  return (
    <div class="field">
      <label for={id}>{words.file}</label>
      <input
        id={id}
        class="input"
        name="file"
        type="file"
        accept=".csv,text/csv"
        aria-invalid={problem !== undefined}
        aria-describedby={`${id}-hint ${id}-problem`}
        onChange={({ currentTarget }) => {
          const [file] = currentTarget.files ?? []
          if (file) onChoose(file)
        }}
      />
      <p class="hint" id={`${id}-hint`}>
        {words.hint} <code dir="ltr">email, handle, displayName, groups, language, expiresInDays</code>
      </p>
      <div role="alert" id={`${id}-problem`}>
        {problem !== undefined && <p class="problem">{problem}</p>}
      </div>
    </div>
  )
}

/** Says what a file would do, and what is wrong in its rows. */
function Checked({ of: { total, ok, failed, rows } }: { of: InvitationImport }) {
  const { importing: words } = useInvitationsMessages()
  const faults = rows.flatMap(faultsOf)
  return (
    <div class="stack" role="status">
      <Facts
        of={[
          { label: words.toInvite, value: formatNumber(ok) },
          { label: words.invited, value: formatNumber(total - ok - failed) },
          { label: words.faulty, value: formatNumber(failed) },
        ]}
      />
      {faults.length > 0 && (
        <ul class="import-faults">
          {faults.slice(0, faultsShown).map(({ row, field, code }) => (
            <li key={`${row} ${field} ${code}`}>
              <strong>{words.row(formatNumber(row))}</strong> {words.faults[code]}
            </li>
          ))}
        </ul>
      )}
      {faults.length > faultsShown && <p class="soft">{words.more(formatNumber(faults.length - faultsShown))}</p>}
    </div>
  )
}

function faultsOf({ row, errors }: InvitationImportRow) {
  return errors.map(({ field, code }) => ({ row, field, code }))
}
