import type { AdminToken, NewAdminToken } from '@countersign/protocol/accounts/admin-tokens'
import { useState } from 'preact/hooks'
import { CopyButton } from '../../../components/display/Copies.tsx'
import { RadioGroup } from '../../../components/form/Choice.tsx'
import { Dialog } from '../../../components/form/Dialog.tsx'
import { toast } from '../../../components/frame/toast.ts'
import { Note } from '../../../components/ui/Chip.tsx'
import { isolate } from '../../../lib/text/isolate.ts'
import { Ask } from '../acting/Ask.tsx'
import { useOperator } from '../acting/operator.ts'
import { useOperatorsMessages } from './words.ts'

type Props = { onDone: (made?: NewAdminToken) => void; onClose: () => void }

const graces = ['0', '3600', '86400'] as const

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
