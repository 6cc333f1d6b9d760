import type { App } from '@countersign/protocol/clients/apps'
import type { ClientId } from '@countersign/protocol/ids'
import { useEffect, useRef, useState } from 'preact/hooks'
import { type DraftState, useDraft, useUnsaved } from '../../../components/form/draft.ts'
import { changeOf, draftOf, faultsOfChange, rebaseDraft, type Draft, type DraftError } from './app-draft.ts'

/** What the developer has entered in the settings of an app, and the app that it was entered for. */
type Kept = { app: App; draft: Draft }

/** What the developer has entered in the settings of the apps that they have visited. */
export type SettingsDrafts = {
  of: (app: App) => Draft | undefined
  keep: (app: App, draft: Draft) => void
}

/** Keeps drafts while other views are shown. The browser asks before the user leaves with one that is not saved. */
export function useSettingsDrafts(apps: App[] | undefined): SettingsDrafts {
  const [kept, setKept] = useState<ReadonlyMap<ClientId, Kept>>(new Map())
  const of = (app: App) => {
    const found = kept.get(app.clientId)
    // The response to a change may come after the developer has left the app.
    return found && { ...found.draft, ...rebaseDraft(found.draft, found.app, app) }
  }
  useUnsaved(apps?.some((app) => isEdited(app, of(app))) === true)
  return { of, keep: (app, draft) => setKept((current) => new Map(current).set(app.clientId, { app, draft })) }
}

function isEdited(app: App, draft: Draft | undefined): boolean {
  return draft !== undefined && Object.keys(changeOf(app, draft)).length > 0
}

/** Returns the draft of an app's settings. What was not edited follows the app, which other views change too. */
export function useSettingsDraft(app: App, { of, keep }: SettingsDrafts): DraftState<Draft, DraftError> {
  const form = useDraft(
    () => of(app) ?? draftOf(app),
    (entered) => faultsOfChange(app, entered),
  )
  const { draft, follow } = form
  const before = useRef(app)
  useEffect(() => {
    const read = before.current
    before.current = app
    follow((present) => rebaseDraft(present, read, app))
  }, [app])
  useEffect(() => keep(before.current, draft), [draft])
  return form
}
