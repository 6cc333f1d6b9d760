import type { RequestingApp } from '@countersign/protocol/pages'
import { Avatar } from '../ui/Avatar.tsx'
import { useMessages } from '../frame/Root.tsx'

/** Says to which app the user continues, on a page before the sign-in. */
export function ContextLine({ app }: { app: RequestingApp | undefined }) {
  const words = useMessages().login
  if (!app) return null
  return (
    <div class="context-line">
      <Avatar name={app.name} toneOf={app.clientId} picture={app.iconUrl} kind="app" size="xs" />
      <span>{words.continueTo(app.name)}</span>
    </div>
  )
}
