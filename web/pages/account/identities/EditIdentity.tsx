import type { Identity } from '@countersign/protocol/accounts/identities'
import { normalizeHandle } from '@countersign/protocol/formats/handle'
import { useRef, useState } from 'preact/hooks'
import { ApiError, call, NetworkError } from '../../../lib/api/call.ts'
import { explainedBy } from '../../../lib/api/explained.ts'
import { type IdentityDraft, emptyDraft, isComplete, isHandleRefused } from '../../../lib/text/identity-draft.ts'
import { ActionForm, Actions } from '../../../components/form/Actions.tsx'
import { Dialog } from '../../../components/form/Dialog.tsx'
import { type Action, useActions } from '../../../components/form/use-actions.ts'
import { IdentityFields } from '../../../components/form/Field.tsx'
import { useMessages } from '../words.ts'
import { PictureEditor } from '../../../components/pictures/PictureEditor.tsx'
import { upload } from '../../../lib/api/upload.ts'
import { useAccountWords } from '../words.ts'
import { withRecentAuthentication } from '../../../lib/keys/passkey.ts'

type AddIdentityProps = { identities: Identity[]; onAdded: (identity: Identity) => void; onClose: () => void }

/** Adds an identity to those that the user has. */
export function AddIdentity({ identities, onAdded, onClose }: AddIdentityProps) {
  const words = useMessages()
  const doing = useActions()
  const [draft, setDraft] = useState(emptyDraft)
  const [checked, setChecked] = useState(false)
  /** What was sent in a try without a response. That identity may exist. */
  const unanswered = useRef<IdentityDraft | undefined>(undefined)
  const add: Action = {
    name: 'add-identity',
    label: words.identities.create,
    do: async () => {
      setChecked(true)
      if (!isComplete(draft)) return
      const { handle, displayName } = draft
      const added = await call('POST /api/identities', { body: { handle, displayName } }).catch(findOrNoteTaken)
      if (added) onAdded(added)
    },
  }
  const cancel: Action = { name: 'cancel', label: words.frame.cancel, look: 'quiet', do: onClose }

  async function findOrNoteTaken(error: unknown) {
    if (error instanceof NetworkError) unanswered.current = draft
    if (!isHandleRefused(error)) throw error
    const tried = unanswered.current?.handle === draft.handle ? unanswered.current : undefined
    const added = tried && (await findAdded(draft.handle, identities))
    if (!added) return setDraft({ ...draft, taken: [...draft.taken, draft.handle] })
    const { identityId } = added
    const { displayName } = draft
    if (tried.displayName === displayName) return added
    return call('PATCH /api/identities/:identityId', { params: { identityId }, body: { displayName } })
  }

  return (
    <Dialog title={words.identities.addTitle} onClose={onClose}>
      <ActionForm submit={add} others={[cancel]} doing={doing}>
        <IdentityFields draft={draft} checked={checked} onChange={setDraft} isNew />
      </ActionForm>
    </Dialog>
  )
}

/** Finds an identity of the user that is not among those that the page shows. */
async function findAdded(handle: string, shown: Identity[]): Promise<Identity | undefined> {
  const { identities } = await call('GET /api/identities', {})
  const isNew = ({ identityId }: Identity) => shown.every((each) => each.identityId !== identityId)
  return identities.find((each) => isNew(each) && normalizeHandle(each.handle) === normalizeHandle(handle))
}

type EditIdentityProps = {
  identity: Identity
  onChanged: (identity: Identity) => void
  /** Called with the identity after its picture was changed, which takes effect at once. */
  onPicture: (identity: Identity) => void
  onClose: () => void
}

/** Edits the picture, the display name and the username. */
export function EditIdentity({ identity, onChanged, onPicture, onClose }: EditIdentityProps) {
  const words = useMessages()
  const doing = useActions()
  const { identityId, handle, displayName } = identity
  const [draft, setDraft] = useState<IdentityDraft>({ handle, displayName, taken: [] })
  const [checked, setChecked] = useState(false)
  const save: Action = {
    name: 'save',
    label: words.identities.save,
    do: async () => {
      setChecked(true)
      if (!isComplete(draft)) return
      // An unchanged username is not sent, because it must not count as a change of username.
      const body = { displayName: draft.displayName, ...(draft.handle !== handle && { handle: draft.handle }) }
      const changed = await call('PATCH /api/identities/:identityId', { params: { identityId }, body }).catch(noteTaken)
      if (changed) onChanged(changed)
    },
  }
  const cancel: Action = { name: 'cancel', label: words.frame.cancel, look: 'quiet', do: onClose }

  function noteTaken(error: unknown) {
    if (!isHandleRefused(error)) throw error
    setDraft({ ...draft, taken: [...draft.taken, draft.handle] })
    return undefined
  }

  return (
    <Dialog title={words.identities.changeTitle} onClose={onClose}>
      <PictureEditor
        current={identity.avatarUrl}
        name={displayName}
        kind="person"
        toneOf={handle}
        onSave={async (picture) =>
          onPicture(await upload('PUT /api/identities/:identityId/avatar', { params: { identityId } }, picture))
        }
        onRemove={async () =>
          onPicture(await call('DELETE /api/identities/:identityId/avatar', { params: { identityId } }))
        }
      />
      <ActionForm submit={save} others={[cancel]} doing={doing}>
        <IdentityFields draft={draft} checked={checked} onChange={setDraft} />
        <p>{words.identities.handleKept}</p>
      </ActionForm>
    </Dialog>
  )
}

type DeleteIdentityProps = { identity: Identity; onDeleted: () => void; onClose: () => void }

export function DeleteIdentity({ identity: { identityId, handle }, onDeleted, onClose }: DeleteIdentityProps) {
  const words = useMessages()
  const own = useAccountWords().identities
  const doing = useActions()
  const explain = explainedBy({ email_domain_required: words.email.domainRequired })
  const remove: Action = {
    name: 'delete-identity',
    label: words.identities.deleteNow,
    look: 'danger',
    do: async () => {
      const deleteIdentity = () => call('DELETE /api/identities/:identityId', { params: { identityId } })
      await withRecentAuthentication(deleteIdentity).catch(acceptGone).catch(explain)
      onDeleted()
    },
  }
  const cancel: Action = { name: 'cancel', label: words.frame.cancel, look: 'quiet', do: onClose }
  return (
    <Dialog title={words.identities.deleteTitle(handle)} onClose={onClose}>
      <p>{words.identities.deleteWhat}</p>
      <p>{own.staysSigned}</p>
      <Actions of={[remove, cancel]} doing={doing} />
    </Dialog>
  )
}

/** Ignores that the identity was already deleted from another tab. */
function acceptGone(error: unknown): void {
  if (!(error instanceof ApiError && error.code === 'identity_not_found')) throw error
}
