import type { AdminToken, NewAdminToken } from '@countersign/protocol/accounts/admin-tokens'
import { tokenPermissions } from '@countersign/protocol/formats/registries/permissions'
import { useState } from 'preact/hooks'
import { CopyButton } from '../../../components/display/Copies.tsx'
import { RadioGroup, Select } from '../../../components/form/Choice.tsx'
import { Dialog } from '../../../components/form/Dialog.tsx'
import { Field } from '../../../components/form/Field.tsx'
import { toast } from '../../../components/frame/toast.ts'
import { Note } from '../../../components/ui/Chip.tsx'
import { isolate } from '../../../lib/text/isolate.ts'
import { Ask } from '../acting/Ask.tsx'
import { useOperator } from '../acting/operator.ts'
import { useOperatorsMessages } from './words.ts'

type Props = { onDone: (made?: NewAdminToken) => void; onClose: () => void }

const lifetimes = ['30', '90', '365'] as const
const graces = ['0', '3600', '86400'] as const

/** Asks for the name, the permissions and the lifetime of a new admin token. */
export function CreateToken({ onDone, onClose }: Props) {
  const { tokens: words } = useOperatorsMessages()
  const { ask, may } = useOperator()
  const [name, setName] = useState('')
  const [permissions, setPermissions] = useState<AdminToken['permissions']>([])
  const [days, setDays] = useState<(typeof lifetimes)[number]>('90')
  const [isChecked, setChecked] = useState(false)
  const written = name.trim()
  const act = {
    name: 'create-token',
    label: words.create,
    asleep: permissions.length === 0,
    do: async () => {
      setChecked(true)
      if (written === '' || permissions.length === 0) return
      const expiresAt = new Date(Date.now() + Number(days) * 86_400_000).toISOString()
      onDone(await ask('POST /api/admin/tokens', { body: { name: written, permissions, expiresAt } }))
    },
  }
  const toggle = (permission: AdminToken['permissions'][number]) =>
    setPermissions(
      permissions.includes(permission)
        ? permissions.filter((each) => each !== permission)
        : [...permissions, permission],
    )
  return (
    <Ask
      title={words.add}
      act={act}
      onClose={onClose}
      command={[
        ...['tokens', 'create', '--name', written || '…'],
        ...['--permission', permissions.join(' ') || '…', '--days', days],
      ]}
    >
      <Field
        name="name"
        label={words.name}
        hint={words.nameHint}
        value={name}
        onInput={setName}
        problem={isChecked && written === '' ? words.nameMissing : undefined}
      />
      <Select
        name="days"
        label={words.lifetime}
        of={lifetimes.map((value) => ({ value, label: words.lifetimes[value] }))}
        chosen={days}
        onChoose={setDays}
      />
      <RadioGroup
        name="permissions"
        legend={words.permissions}
        hint={words.permissionsHint}
        of={tokenPermissions.filter(may).map((value) => ({ value, label: value }))}
        chosen={permissions}
        several
        onChoose={toggle}
      />
    </Ask>
  )
}

/** Asks how long the replaced secret stays valid. */
export function RotateToken({ token, onDone, onClose }: Props & { token: AdminToken }) {
  const { tokens: words } = useOperatorsMessages()
  const { ask } = useOperator()
  const { tokenId, name } = token
  const [grace, setGrace] = useState<(typeof graces)[number]>('3600')
  const act = {
    name: 'rotate-token',
    label: words.rotate,
    do: async () => {
      const body = { graceSeconds: Number(grace) }
      onDone(await ask('POST /api/admin/tokens/:tokenId/rotate', { params: { tokenId }, body }))
    },
  }
  return (
    <Ask
      title={words.rotateTitle(isolate(name))}
      act={act}
      onClose={onClose}
      command={['tokens', 'rotate', tokenId, '--grace', grace]}
    >
      <RadioGroup
        name="grace"
        legend={words.grace}
        of={graces.map((value) => ({ value, label: words.graces[value] }))}
        chosen={[grace]}
        onChoose={setGrace}
      />
    </Ask>
  )
}

export function RevokeToken({ token, onDone, onClose }: Props & { token: AdminToken }) {
  const { tokens: words } = useOperatorsMessages()
  const { ask } = useOperator()
  const { tokenId, name } = token
  const act = {
    name: 'revoke-token',
    label: words.revoke,
    look: 'danger',
    do: async () => {
      await ask('DELETE /api/admin/tokens/:tokenId', { params: { tokenId } })
      onDone()
      toast(words.revoked(isolate(name)))
    },
  } as const
  return (
    <Ask title={words.revokeTitle(isolate(name))} act={act} onClose={onClose} command={['tokens', 'revoke', tokenId]}>
      <p>{words.revokeWhat}</p>
    </Ask>
  )
}

/** Shows a new admin token. It cannot be shown again. */
export function IssuedToken({ issued, onClose }: { issued: NewAdminToken; onClose: () => void }) {
  const { tokens: words } = useOperatorsMessages()
  return (
    <Dialog title={words.issuedTitle(isolate(issued.adminToken.name))} onClose={onClose}>
      <Note tone="wait">{words.once}</Note>
      <div class="copyable" dir="ltr">
        <code data-name="admin-token">{issued.token}</code>
        <CopyButton text={issued.token} action="copy-token" what={words.token} />
      </div>
      <div class="actions">
        <button type="button" class="button primary" data-action="token-saved" onClick={onClose}>
          {words.saved}
        </button>
      </div>
    </Dialog>
  )
}
