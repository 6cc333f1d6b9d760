import { foldHandle } from '@countersign/protocol/formats/handle'
import { useState } from 'preact/hooks'
import { call, Refused } from '../../../lib/call.ts'
import { tellPasskeys } from '../../../lib/passkey-signals.ts'
import { withFreshProof } from '../../../lib/passkey.ts'
import type { Session } from '../../../lib/session.ts'
import { ActionForm } from '../../../components/form/Actions.tsx'
import { Dialog } from '../../../components/form/Dialog.tsx'
import { useDoing, type Action } from '../../../components/form/doing.ts'
import { Field } from '../../../components/form/Field.tsx'
import { useWords } from '../../../components/frame/Root.tsx'
import { saveExport } from './export.ts'

/** The last question before an account goes. Its username is written, so that nobody says yes by habit. */
export function DeleteAccount({ session, onClose }: { session: Session; onClose: () => void }) {
  const words = useWords()
  const doing = useDoing()
  const [typed, setTyped] = useState('')
  const [checked, setChecked] = useState(false)
  const [apps, setApps] = useState<string[]>()
  const handle = session.identities[0]?.handle ?? ''
  const matches = foldHandle(typed.replace(/^@/, '')) === foldHandle(handle)
  const remove: Action = {
    name: 'delete-account',
    label: apps ? words.data.deleteWithApps : words.data.deleteNow,
    do: async () => {
      setChecked(true)
      if (!matches) return
      const querystring = apps ? ({ apps: 'delete' } as const) : {}
      try {
        await withFreshProof(() => call('DELETE /api/account', { querystring }))
      } catch (error) {
        return setApps(appsThatWouldGo(error))
      }
      await tellPasskeys(session.user.userId, [])
      location.assign('/')
    },
  }
  const save: Action = {
    name: 'export',
    label: words.data.download,
    look: 'secondary',
    do: () => saveExport(words.data.fileName),
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

/** The names of the apps that the person has registered, where it is these that stand in the way. */
function appsThatWouldGo(error: unknown): string[] {
  if (!(error instanceof Refused && error.code === 'owns_apps')) throw error
  const { apps } = error.fields
  return Array.isArray(apps) ? apps.map(String) : []
}
