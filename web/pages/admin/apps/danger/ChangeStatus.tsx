import type { App } from '@countersign/protocol/clients/apps'
import { toast } from '../../../../components/frame/toast.ts'
import { isolate } from '../../../../lib/text/isolate.ts'
import { Ask } from '../../acting/Ask.tsx'
import { useOperator } from '../../acting/operator.ts'
import { useAppsMessages } from '../words.ts'

type Props = { app: App; onChanged: (app: App) => void; onClose: () => void }

/** Disables an app, or enables a disabled one. */
export function ChangeStatus({ app: { clientId, name, status }, onChanged, onClose }: Props) {
  const { disable, enable } = useAppsMessages().danger
  const { ask } = useOperator()
  const isDisabled = status === 'disabled'
  const words = isDisabled ? enable : disable
  const act = {
    name: isDisabled ? 'enable-app' : 'disable-app',
    label: words.now,
    look: isDisabled ? 'primary' : 'danger',
    do: async () => {
      const body = { status: isDisabled ? 'active' : 'disabled' } as const
      onChanged(await ask('PATCH /api/admin/apps/:clientId', { params: { clientId }, headers: {}, body }))
      onClose()
      toast(words.done(isolate(name)))
    },
  } as const
  return (
    <Ask
      title={words.ask(isolate(name))}
      act={act}
      onClose={onClose}
      command={['apps', isDisabled ? 'enable' : 'disable', clientId]}
    >
      <p>{words.what}</p>
    </Ask>
  )
}
