import type { Passkey } from '@countersign/protocol/accounts/passkeys'
import type { SessionEntry } from '@countersign/protocol/accounts/sessions'
import { ApiError, call } from '../../../lib/api/call.ts'
import { withRecentAuthentication } from '../../../lib/keys/passkey.ts'
import { withReturnUrl } from '../../../lib/navigation.ts'
import { isSignInRequired } from '../../../lib/session/session.ts'
import { ActionForm, Actions } from '../../../components/form/Actions.tsx'
import { Dialog } from '../../../components/form/Dialog.tsx'
import { type Action, useActions } from '../../../components/form/use-actions.ts'
import { useMessages } from '../words.ts'
import type { AccountData } from '../account-data.ts'
import { isDisplayName } from '@countersign/protocol/formats/display-name'
import { useState } from 'preact/hooks'
import { routePath } from '../sections.ts'
import { Field } from '../../../components/form/Field.tsx'

type RemovePasskeyProps = {
  passkey: Passkey
  data: AccountData
  /** Called with the remaining sessions. */
  onRemoved: (sessions: SessionEntry[]) => void
  onClose: () => void
}

/** Says what is lost with a passkey, and removes it. */
export function RemovePasskey({ passkey, data, onRemoved, onClose }: RemovePasskeyProps) {
  const words = useMessages()
  const doing = useActions()
  const { credentialId, name } = passkey
  const loss = removalImpact(passkey, data)
  const remove: Action = {
    name: 'remove-passkey',
    label: words.passkeys.removeNow,
    look: 'danger',
    do: async () => {
      await withRecentAuthentication(() =>
        call('DELETE /api/auth/passkeys/:credentialId', { params: { credentialId } }),
      ).catch(acceptGone)
      const { sessions } = await call('GET /api/auth/sessions', {}).catch(leave)
      onRemoved(sessions)
    },
  }
  const cancel: Action = { name: 'cancel', label: words.frame.cancel, look: 'quiet', do: onClose }
  return (
    <Dialog title={words.passkeys.removeTitle(name)} onClose={onClose}>
      <p>{words.passkeys.removeWhat}</p>
      {loss && <p class="problem">{words.passkeys.losses[loss]}</p>}
      <Actions of={[remove, cancel]} doing={doing} />
    </Dialog>
  )
}

/** Ignores that the passkey was already removed from another tab. */
function acceptGone(error: unknown): void {
  if (!(error instanceof ApiError && error.code === 'passkey_not_found')) throw error
}

/** Leads to sign-in if the removed passkey had opened this session, which ends with it. */
function leave(error: unknown): { sessions: SessionEntry[] } {
  if (!isSignInRequired(error)) throw error
  location.replace(withReturnUrl('/login', routePath('security')))
  return { sessions: [] }
}

type RenamePasskeyProps = { passkey: Passkey; onRenamed: (passkey: Passkey) => void; onClose: () => void }

export function RenamePasskey({ passkey, onRenamed, onClose }: RenamePasskeyProps) {
  const words = useMessages()
  const doing = useActions()
  const [name, setName] = useState(passkey.name)
  const [checked, setChecked] = useState(false)
  const save: Action = {
    name: 'save',
    label: words.identities.save,
    do: async () => {
      setChecked(true)
      if (!isDisplayName(name)) return
      const { credentialId } = passkey
      onRenamed(await call('PATCH /api/auth/passkeys/:credentialId', { params: { credentialId }, body: { name } }))
    },
  }
  const cancel: Action = { name: 'cancel', label: words.frame.cancel, look: 'quiet', do: onClose }
  return (
    <Dialog title={words.passkeys.renameTitle} onClose={onClose}>
      <ActionForm submit={save} others={[cancel]} doing={doing}>
        <Field
          name="passkeyName"
          label={words.passkeys.name}
          value={name}
          onInput={setName}
          problem={checked && !isDisplayName(name) ? words.register.displayNameInvalid : undefined}
        />
      </ActionForm>
    </Dialog>
  )
}

/** The loss with a removed passkey: every way to the keys except the recovery code, or the keys themselves. */
export type RemovalImpact = 'code only' | 'keys'

type Rest = { passkeys: Passkey[]; codeOpensKeys: boolean }

export function removalImpact(passkey: Passkey, { passkeys, codeOpensKeys }: Rest): RemovalImpact | undefined {
  if (!passkey.opensKeys) return undefined
  if (passkeys.some((other) => other !== passkey && other.opensKeys)) return undefined
  return codeOpensKeys ? 'code only' : 'keys'
}
