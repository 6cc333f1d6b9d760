import { useState } from 'preact/hooks'
import { useUnsaved } from '../../../components/form/draft.ts'
import type { NewAppDraft } from '../NewApp.tsx'
import type { ResourceInput } from '../resources/ResourceForm.tsx'

/** What the developer has typed into forms, and not sent. */
export type KeptInput<Input> = {
  of: (form: string) => Input | undefined
  keep: (form: string, input: Input) => void
  /** Drops input, unless it is another one than what `isDropped` names. */
  drop: (form: string, isDropped?: (input: Input) => boolean) => void
}

/** Keeps input while other views are shown. The browser asks before the user leaves with some. */
export function useKeptInput<Input>(): KeptInput<Input> {
  const [kept, setKept] = useState<ReadonlyMap<string, Input>>(new Map())
  useUnsaved(kept.size > 0)
  return {
    of: (form) => kept.get(form),
    keep: (form, input) => setKept((current) => new Map(current).set(form, input)),
    drop: (form, isDropped = () => true) =>
      setKept((current) => {
        const input = current.get(form)
        if (input === undefined || !isDropped(input)) return current
        return new Map([...current].filter(([each]) => each !== form))
      }),
  }
}

export type KeptForms = ReturnType<typeof useKeptForms>

/** Keeps what is typed for a new app, and by app for its webhook and for one of its resources. */
export function useKeptForms() {
  const newApp = useKeptInput<NewAppDraft>()
  const webhook = useKeptInput<string>()
  const resource = useKeptInput<ResourceInput>()
  /** Drops what was typed for an app that is deleted. */
  const dropOf = (clientId: string) => {
    webhook.drop(clientId)
    resource.drop(clientId)
  }
  return { newApp, webhook, resource, dropOf }
}
