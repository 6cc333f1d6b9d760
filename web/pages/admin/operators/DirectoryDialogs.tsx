import type { NewScimToken, ScimToken } from '@countersign/protocol/operations/scim-tokens'
import { useState } from 'preact/hooks'
import { CopyButton } from '../../../components/display/Copies.tsx'
import { Field } from '../../../components/form/Field.tsx'
import { toast } from '../../../components/frame/toast.ts'
import { isolate } from '../../../lib/text/isolate.ts'
import { Ask } from '../acting/Ask.tsx'
import { useOperator } from '../acting/operator.ts'
import { ShownOnce } from '../acting/ShownOnce.tsx'
import { useOperatorsMessages } from './words.ts'

type Props = { onDone: (made?: NewScimToken) => void; onClose: () => void }

/** Asks for the name of a directory, and creates its token. */
export function CreateScimToken({ onDone, onClose }: Props) {
  const { directories: words, tokens: shared } = useOperatorsMessages()
  const { ask } = useOperator()
  const [written, setWritten] = useState('')
  const [isChecked, setChecked] = useState(false)
  const name = written.trim()
  const act = {
    name: 'create-scim-token',
    label: shared.create,
    do: async () => {
      setChecked(true)
      if (name === '') return
      onDone(await ask('POST /api/admin/scim-tokens', { body: { name } }))
    },
  }
  return (
    <Ask title={words.add} act={act} onClose={onClose} command={['scim-tokens', 'create', '--name', name || '…']}>
      <Field
        name="name"
        label={shared.name}
        hint={words.nameHint}
        value={written}
        onInput={setWritten}
        problem={isChecked && name === '' ? shared.nameMissing : undefined}
      />
      <p class="hint">{words.createWhat}</p>
    </Ask>
  )
}

type TokenProps = Props & { token: ScimToken }

export function RotateScimToken({ token: { tokenId, name }, onDone, onClose }: TokenProps) {
  const { directories: words, tokens: shared } = useOperatorsMessages()
  const { ask } = useOperator()
  const act = {
    name: 'rotate-scim-token',
    label: words.rotate,
    do: async () => onDone(await ask('POST /api/admin/scim-tokens/:tokenId/rotate', { params: { tokenId } })),
  }
  return (
    <Ask
      title={shared.rotateTitle(isolate(name))}
      act={act}
      onClose={onClose}
      command={['scim-tokens', 'rotate', tokenId]}
    >
      <p>{words.rotateWhat}</p>
    </Ask>
  )
}

export function DeleteScimToken({ token: { tokenId, name }, onDone, onClose }: TokenProps) {
  const { directories: words } = useOperatorsMessages()
  const { ask } = useOperator()
  const act = {
    name: 'delete-scim-token',
    label: words.delete,
    look: 'danger',
    do: async () => {
      await ask('DELETE /api/admin/scim-tokens/:tokenId', { params: { tokenId } })
      onDone()
      toast(words.deleted(isolate(name)))
    },
  } as const
  return (
    <Ask
      title={words.deleteTitle(isolate(name))}
      act={act}
      onClose={onClose}
      command={['scim-tokens', 'delete', tokenId, '--yes']}
    >
      <p>{words.deleteWhat}</p>
    </Ask>
  )
}

/** Shows what a directory needs: the address, and the token, which cannot be shown again. */
export function IssuedScimToken({ issued, onClose }: { issued: NewScimToken; onClose: () => void }) {
  const { directories: words, tokens: shared } = useOperatorsMessages()
  const { token, url, scimToken } = issued
  const said = { what: words.token, once: shared.once, saved: shared.saved }
  return (
    <ShownOnce
      title={shared.issuedTitle(isolate(scimToken.name))}
      name="scim-token"
      text={token}
      words={said}
      onClose={onClose}
    >
      <p>{words.url}</p>
      <div class="copyable" dir="ltr">
        <code data-name="scim-url">{url}</code>
        <CopyButton text={url} action="copy-scim-url" what={words.url} />
      </div>
    </ShownOnce>
  )
}
