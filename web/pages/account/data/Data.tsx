import { ApiError, call, NetworkError } from '../../../lib/api/call.ts'
import { downloadFile } from '../../../lib/download.ts'
import { normalizeHandle } from '@countersign/protocol/formats/handle'
import { useRef, useState } from 'preact/hooks'
import { signalAllAcceptedCredentials } from '../../../lib/keys/passkey-signals.ts'
import { withRecentAuthentication } from '../../../lib/keys/passkey.ts'
import { forgetUser } from '../../../lib/session/known-users.ts'
import { ActionButton, ActionForm } from '../../../components/form/Actions.tsx'
import { PageHead } from '../../../components/frame/Frame.tsx'
import { toast } from '../../../components/frame/toast.ts'
import { Card } from '../../../components/ui/Card.tsx'
import { Icon } from '../../../components/ui/Icon.tsx'
import { useAccountWords } from '../words.ts'
import { Dialog, ErrorMessage } from '../../../components/form/Dialog.tsx'
import { type Action, useActions } from '../../../components/form/use-actions.ts'
import { Field } from '../../../components/form/Field.tsx'
import type { AccountData } from '../account-data.ts'
import { useMessages } from '../words.ts'

/** Downloads all data that the service stores about the user. */
async function downloadAccountExport(fileName: string): Promise<void> {
  const everything = await call('GET /api/account/export', {})
  downloadFile(JSON.stringify(everything, null, 2), 'application/json', fileName)
}

/**
 * Asks for confirmation before an account is deleted. The user types the username, so that no one confirms by habit.
 */
function DeleteAccount({ data, onClose }: { data: AccountData; onClose: () => void }) {
  const { session, passkeys } = data
  const words = useMessages()
  const doing = useActions()
  const [typed, setTyped] = useState('')
  const [checked, setChecked] = useState(false)
  const [apps, setApps] = useState<string[]>()
  const isUnsure = useRef(false)
  const handle = session.identities[0]?.handle ?? ''
  const matches = normalizeHandle(typed.replace(/^@/, '')) === normalizeHandle(handle)
  const remove: Action = {
    name: 'delete-account',
    label: apps ? words.data.deleteWithApps : words.data.deleteNow,
    look: 'danger',
    do: async () => {
      setChecked(true)
      if (!matches) return
      const querystring = apps ? ({ apps: 'delete' } as const) : {}
      try {
        await withRecentAuthentication(() => call('DELETE /api/account', { querystring }))
      } catch (error) {
        isUnsure.current ||= error instanceof NetworkError
        if (!(isUnsure.current && (await isDeleted(error, passkeys)))) return setApps(appsThatWouldGo(error))
      }
      forgetUser(session.user.userId)
      await signalAllAcceptedCredentials(session.user.userId, [])
      location.assign('/')
    },
  }
  const save: Action = {
    name: 'export',
    label: words.data.download,
    look: 'secondary',
    do: () => downloadAccountExport(words.data.fileName),
  }
  const cancel: Action = { name: 'cancel', label: words.frame.cancel, look: 'quiet', do: onClose }
  return (
    <Dialog title={words.data.confirmTitle} onClose={onClose}>
      <p>{words.data.confirmWhat}</p>
      <div role="alert">{apps && <p class="problem">{words.data.appsGoToo(apps)}</p>}</div>
      <ActionForm submit={remove} others={[save, cancel]} doing={doing}>
        <Field
          name="confirmation"
          label={words.data.typeHandle(handle)}
          value={typed}
          onInput={(text) => setTyped(text.trim())}
          problem={checked && !matches ? words.data.mismatch : undefined}
          exact
        />
      </ActionForm>
    </Dialog>
  )
}

/**
 * Returns whether a request failed because the account no longer exists: the response to an earlier try may have been
 * lost. A session can also end otherwise, and then the passkeys of the account must stay.
 */
async function isDeleted(error: unknown, passkeys: AccountData['passkeys']): Promise<boolean> {
  if (!(error instanceof ApiError && error.status === 401)) return false
  const looking = passkeys.map(({ credentialId }) => call('POST /api/auth/passkeys/known', { body: { credentialId } }))
  return (await Promise.all(looking)).every(({ known }) => !known)
}

/** Returns the names of the user's registered apps if these prevent the deletion. */
function appsThatWouldGo(error: unknown): string[] {
  if (!(error instanceof ApiError && error.code === 'owns_apps')) throw error
  const { apps } = error.fields
  return Array.isArray(apps) ? apps.map(String) : []
}

/** Export of all data, and deletion of the account. */
export function DataAndDeletion({ data }: { data: AccountData }) {
  const words = useMessages().data
  const own = useAccountWords().data
  const doing = useActions()
  const [leaving, setLeaving] = useState(false)
  const save: Action = {
    name: 'export',
    label: words.download,
    look: 'secondary',
    icon: 'download',
    do: async () => {
      await downloadAccountExport(words.fileName)
      toast(own.downloaded)
    },
  }
  return (
    <>
      <PageHead title={own.title} lead={own.lead} />
      <Card title={own.export} about={own.exportWhat}>
        <ErrorMessage of={doing.problem} />
        <div class="row">
          <ActionButton action={save} doing={doing} />
        </div>
      </Card>
      <Card danger title={words.deleteTitle} about={own.deleteWhat}>
        <div class="row">
          <button
            type="button"
            class="button danger"
            data-action="leave"
            aria-haspopup="dialog"
            onClick={() => setLeaving(true)}
          >
            <Icon name="trash" size="sm" />
            {words.delete}
          </button>
        </div>
      </Card>
      {leaving && <DeleteAccount data={data} onClose={() => setLeaving(false)} />}
    </>
  )
}
