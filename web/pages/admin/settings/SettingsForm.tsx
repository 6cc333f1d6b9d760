import type { Settings } from '@countersign/protocol/operations/settings'
import type { ComponentChildren } from 'preact'
import { ActionForm } from '../../../components/form/Actions.tsx'
import { useActions } from '../../../components/form/use-actions.ts'
import { toast } from '../../../components/frame/toast.ts'
import { Card } from '../../../components/ui/Card.tsx'
import { CommandLine } from '../acting/CommandLine.tsx'
import { useOperator } from '../acting/operator.ts'
import { changesOf, type Draft, textOf } from './draft.ts'
import type { Replace } from './use-settings.ts'
import { useSettingsMessages } from './words.ts'

type Props = {
  name: string
  title: string
  about?: string
  current: Settings
  /** What the operator has changed in this form. */
  draft: Draft
  /** Undefined if nothing in this form can be changed. */
  replace: Replace | undefined
  children: ComponentChildren
}

/** A card with settings that are saved together. */
export function SettingsForm({ name, title, about, current, draft, replace, children }: Props) {
  const words = useSettingsMessages()
  const { ask } = useOperator()
  const doing = useActions()
  if (!replace)
    return (
      <Card title={title} about={about}>
        {children}
      </Card>
    )
  const changes = changesOf(draft, current)
  const pairs = Object.entries(changes).map(([key, value]) => `${key}=${textOf(value).replaceAll('\n', ',')}`)
  const save = {
    name: `save-${name}`,
    label: words.save,
    asleep: pairs.length === 0,
    do: async () => {
      if (pairs.length === 0) return
      await replace(async (headers) => {
        const saved = await ask('PATCH /api/admin/settings', { headers, body: { settings: changes } })
        toast(words.saved)
        return saved
      })
    },
  }
  return (
    <Card title={title} about={about}>
      <ActionForm submit={save} doing={doing}>
        {children}
        <CommandLine words={['settings', ...(pairs.length === 0 ? ['get'] : ['set', ...pairs])]} />
      </ActionForm>
    </Card>
  )
}
