import { useState } from 'preact/hooks'
import { withRecentAuthentication } from '../../lib/keys/passkey.ts'
import { ActionButton, ActionForm } from '../../components/form/Actions.tsx'
import { Dialog } from '../../components/form/Dialog.tsx'
import { type Action, useActions } from '../../components/form/use-actions.ts'
import { RadioGroup } from '../../components/form/Choice.tsx'
import { useLocale, useMessages } from './words.ts'
import type { App } from '@countersign/protocol/clients/apps'
import { call } from '../../lib/api/call.ts'
import type { IssuedClientSecret } from './Developers.tsx'
import { momentOf } from '../../lib/text/dates.ts'
import { CopyButton } from '../../components/display/Copies.tsx'
import { StepHeading } from '../../components/frame/Frame.tsx'

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
    do: () => withRecentAuthentication(() => onRotate(graces[grace])),
  }
  const cancel: Action = { name: 'cancel', label: words.frame.cancel, look: 'quiet', do: onClose }
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

type AppSecretProps = { app: App; onIssued: (issued: IssuedClientSecret) => void }

/** Replaces the client secret of an app. */
export function AppSecret({ app: { clientId }, onIssued }: AppSecretProps) {
  const words = useMessages().developers
  const [isDialogOpen, setIsDialogOpen] = useState(false)
  const rotate = async (graceSeconds: number) => {
    const given = { params: { clientId }, body: { graceSeconds } }
    const issued = await call('POST /api/developer/apps/:clientId/secret', given)
    setIsDialogOpen(false)
    onIssued(issued)
  }
  return (
    <section class="step apart">
      <h2>{words.secret}</h2>
      <p>{words.rotateWhat}</p>
      <p>
        <button
          type="button"
          class="button secondary"
          data-action="new-secret"
          aria-haspopup="dialog"
          onClick={() => setIsDialogOpen(true)}
        >
          {words.rotate}
        </button>
      </p>
      {isDialogOpen && <RotateSecret onRotate={rotate} onClose={() => setIsDialogOpen(false)} />}
    </section>
  )
}

type NewSecretProps = {
  name: 'clientSecret' | 'webhookSecret'
  secret: string
  previousUntil: string | undefined
  onSaved: () => void
}

/** Shows a new client secret. It cannot be shown again. */
export function NewSecret({ name, secret, previousUntil, onSaved }: NewSecretProps) {
  const { words, language } = useLocale()
  const doing = useActions()
  const { title, why, label } = words.developers.newSecrets[name]
  const isOverlapping = previousUntil !== undefined && new Date(previousUntil) > new Date()
  const saved: Action = { name: 'confirm-secret-saved', label: words.developers.secretSaved, do: onSaved }
  return (
    <section class="step told">
      <StepHeading level={name === 'clientSecret' ? 2 : 3}>{title}</StepHeading>
      <p>{why}</p>
      <figure class="code" aria-label={label}>
        <output name={name}>{secret}</output>
      </figure>
      {isOverlapping && <p>{words.developers.previousUntil(momentOf(previousUntil, language))}</p>}
      <div class="actions">
        <CopyButton text={secret} action="copy-secret" />
        <ActionButton action={saved} doing={doing} />
      </div>
    </section>
  )
}
