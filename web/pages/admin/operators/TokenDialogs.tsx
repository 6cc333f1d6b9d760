import type { AdminToken, NewAdminToken } from '@countersign/protocol/accounts/admin-tokens'
import { useState } from 'preact/hooks'
import { RadioGroup } from '../../../components/form/Choice.tsx'
import { toast } from '../../../components/frame/toast.ts'
import { isolate } from '../../../lib/text/isolate.ts'
import { Ask } from '../acting/Ask.tsx'
import { useOperator } from '../acting/operator.ts'
import { ShownOnce } from '../acting/ShownOnce.tsx'
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
  const title = words.issuedTitle(isolate(issued.adminToken.name))
  const said = { what: words.token, once: words.once, saved: words.saved }
  return <ShownOnce title={title} name="admin-token" text={issued.token} words={said} onClose={onClose} />
}
