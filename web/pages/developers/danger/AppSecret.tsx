import { useState } from 'preact/hooks'
import { withRecentAuthentication } from '../../../lib/keys/passkey.ts'
import { ActionButton, ActionForm } from '../../../components/form/Actions.tsx'
import { Dialog } from '../../../components/form/Dialog.tsx'
import { type Action, useActions } from '../../../components/form/use-actions.ts'
import { RadioGroup } from '../../../components/form/Choice.tsx'
import { momentOf } from '../../../lib/text/dates.ts'
import { CopyButton } from '../../../components/display/Copies.tsx'
import { Note } from '../../../components/ui/Chip.tsx'
import { downloadFile } from '../../../lib/download.ts'
import { useLocale, useMessages } from '../words.ts'
import type { IssuedSecret } from './IssuedSecrets.tsx'

/** The grace periods of the previous secret, in seconds. The last one is the maximum that the API accepts. */
const graces = { none: 0, hour: 3600, day: 24 * 3600, week: 7 * 24 * 3600 }
type Grace = keyof typeof graces

type RotateSecretProps = { onRotate: (graceSeconds: number) => Promise<void>; onClose: () => void }

/** Asks for the grace period before a secret is replaced. During it, both secrets are valid. */
export function RotateSecret({ onRotate, onClose }: RotateSecretProps) {
  const words = useMessages()
  const doing = useActions()
  const [grace, setGrace] = useState<Grace>('day')
  const rotate: Action = {
    name: 'rotate-secret',
    label: words.developers.rotateNow,
    look: 'danger',
    do: () => withRecentAuthentication(() => onRotate(graces[grace])),
  }
  const cancel: Action = { name: 'cancel', label: words.frame.cancel, look: 'secondary', do: onClose }
  return (
    <Dialog title={words.developers.rotateTitle} onClose={onClose}>
      <ActionForm submit={rotate} others={[cancel]} doing={doing}>
        <RadioGroup
          name="grace"
          legend={words.developers.grace}
          of={(['none', 'hour', 'day', 'week'] as const).map((value) => ({
            value,
            label: words.developers.graces[value],
          }))}
          chosen={[grace]}
          onChoose={setGrace}
        />
      </ActionForm>
    </Dialog>
  )
}

/** Returns the content of a file that holds a secret. */
function envFileOf({ name, app, secret }: IssuedSecret): string {
  return name === 'clientSecret' ? `CLIENT_ID=${app.clientId}\nCLIENT_SECRET=${secret}\n` : `WEBHOOK_SECRET=${secret}\n`
}

/**
 * Shows a new secret. It cannot be shown again, so only the button of this dialog leaves it. The secret has the focus,
 * so that screen readers begin with it.
 */
export function NewSecret({ issued, onSaved }: { issued: IssuedSecret; onSaved: () => void }) {
  const { words, language } = useLocale()
  const doing = useActions()
  const { name, app, secret, previousUntil } = issued
  const { title, why, label } = words.developers.newSecrets[name]
  const isOverlapping = previousUntil !== undefined && new Date(previousUntil) > new Date()
  const saved: Action = { name: 'confirm-secret-saved', label: words.developers.secretSaved, do: onSaved }
  const save: Action = {
    name: 'download-secret',
    label: words.developers.downloadEnv,
    look: 'secondary',
    icon: 'download',
    do: () => downloadFile(envFileOf(issued), 'text/plain', `${name}.env`),
  }
  return (
    <Dialog title={title(app.name)}>
      <Note tone="wait">{why}</Note>
      <figure class="secret" aria-label={label} tabIndex={-1} autofocus>
        <output name={name}>{secret}</output>
      </figure>
      {isOverlapping && <p>{words.developers.previousUntil(momentOf(previousUntil, language))}</p>}
      <div class="row">
        <CopyButton text={secret} action="copy-secret" />
        <ActionButton action={save} doing={doing} />
        <ActionButton action={saved} doing={doing} />
      </div>
    </Dialog>
  )
}
