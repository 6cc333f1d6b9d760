import type { App } from '@countersign/protocol/clients/apps'
import type { ClientId } from '@countersign/protocol/ids'
import { useEffect, useRef, useState } from 'preact/hooks'
import { type DraftState, useDraft, useUnsaved } from '../../../components/form/draft.ts'
import { changeOf, draftOf, faultsOf, rebaseDraft, type Draft, type DraftError } from './app-draft.ts'
import { rulesFor } from './redirect-uris.ts'

/** What the developer has entered in the settings of the apps that they have visited. */
export type SettingsDrafts = {
  of: (clientId: ClientId) => Draft | undefined
  keep: (clientId: ClientId, draft: Draft) => void
}

/** Keeps drafts while other views are shown. The browser asks before the user leaves with one that is not saved. */
export function useSettingsDrafts(apps: App[] | undefined): SettingsDrafts {
  const [drafts, setDrafts] = useState<ReadonlyMap<ClientId, Draft>>(new Map())
  useUnsaved(apps?.some((app) => isEdited(app, drafts.get(app.clientId))) === true)
  return {
    of: (clientId) => drafts.get(clientId),
    keep: (clientId, draft) => setDrafts((current) => new Map(current).set(clientId, draft)),
  }
}

function isEdited(app: App, draft: Draft | undefined): boolean {
  return draft !== undefined && Object.keys(changeOf(app, draft)).length > 0
}

/** Returns the draft of an app's settings. What was not edited follows the app, which other views change too. */
export function useSettingsDraft(app: App, { of, keep }: SettingsDrafts): DraftState<Draft, DraftError> {
  const { clientId } = app
  const form = useDraft(
    () => of(clientId) ?? draftOf(app),
    (entered) => faultsOf(entered, rulesFor(app.public)),
  )
  const { draft, follow } = form
  const before = useRef(app)
  useEffect(() => {
    const read = before.current
    before.current = app
    follow((present) => rebaseDraft(present, read, app))
  }, [app])
  useEffect(() => keep(clientId, draft), [draft])
  return form
}
