import type { App } from '@countersign/protocol/clients/apps'
import { useState } from 'preact/hooks'
import { RadioGroup } from '../../../../components/form/Choice.tsx'
import { useLocale } from '../../../../components/frame/Root.tsx'
import { momentOf } from '../../../../lib/text/dates.ts'
import { isolate } from '../../../../lib/text/isolate.ts'
import { Ask } from '../../acting/Ask.tsx'
import { useOperator } from '../../acting/operator.ts'
import { ShownOnce } from '../../acting/ShownOnce.tsx'
import { useAppsMessages } from '../words.ts'

/** A new secret, and when the one before it ends. Without that, it has ended. */
export type IssuedSecret = { clientSecret: string; previousUntil: string | undefined }

/** Grace periods of the old secret, in seconds. The last one is the maximum that the API accepts. */
const secondsOf = { none: 0, hour: 3600, day: 86_400, week: 7 * 86_400 } as const
const graces = ['none', 'hour', 'day', 'week'] as const satisfies (keyof typeof secondsOf)[]

type Props = { app: App; onClose: () => void }

/** Asks how long the old secret stays valid, and replaces it. */
export function RotateSecret({ app, onIssued, onClose }: Props & { onIssued: (issued: IssuedSecret) => void }) {
  const { rotate: words } = useAppsMessages().danger
  const { ask } = useOperator()
  const [grace, setGrace] = useState<keyof typeof secondsOf>('day')
  const { clientId, name } = app
  const graceSeconds = secondsOf[grace]
  const act = {
    name: 'rotate-secret',
    label: words.now,
    look: 'danger',
    do: async () => {
      const given = { params: { clientId }, body: { graceSeconds } }
      const { clientSecret, previousUntil } = await ask('POST /api/admin/apps/:clientId/secret', given)
      onIssued({ clientSecret, previousUntil: graceSeconds === 0 ? undefined : previousUntil })
    },
  } as const
  const options = graceSeconds === 0 ? [] : ['--grace', String(graceSeconds)]
  return (
    <Ask
      title={words.ask(isolate(name))}
      act={act}
      onClose={onClose}
      command={['apps', 'rotate-secret', clientId, ...options]}
    >
      <RadioGroup
        name="grace"
        legend={words.grace}
        of={graces.map((value) => ({ value, ...words.graces[value] }))}
        chosen={[grace]}
        onChoose={setGrace}
      />
    </Ask>
  )
}

/** Shows a new secret. It cannot be shown again. */
export function NewSecret({ app, issued, onClose }: Props & { issued: IssuedSecret }) {
  const { danger, secret, secretOnce, secretSaved } = useAppsMessages()
  const { language } = useLocale()
  const { clientSecret, previousUntil } = issued
  return (
    <ShownOnce
      title={danger.rotate.done(isolate(app.name))}
      name="client-secret"
      text={clientSecret}
      words={{ what: secret, once: secretOnce, saved: secretSaved }}
      onClose={onClose}
    >
      <p>
        {previousUntil === undefined
          ? danger.rotate.previousEnded
          : danger.rotate.previousUntil(momentOf(previousUntil, language))}
      </p>
    </ShownOnce>
  )
}
