import type { EntryView, RequestingApp } from '@countersign/protocol/pages'
import { joiningMessages as ar } from '../../locales/ar/pages/sign-in/joining.ts'
import { joiningMessages as de } from '../../locales/de/pages/sign-in/joining.ts'
import { joiningMessages as en } from '../../locales/en/pages/sign-in/joining.ts'
import { Avatar } from '../ui/Avatar.tsx'
import { useMessages, usePageMessages } from '../frame/Root.tsx'

type Props = { app: RequestingApp | undefined; invitation: EntryView['invitation'] | undefined }

/** Says to which app or invitation the user continues, on a page before the sign-in. */
export function ContextLine({ app, invitation }: Props) {
  const words = useMessages().login
  if (invitation) return <InvitationLine invitation={invitation} />
  if (!app) return null
  return (
    <div class="context-line">
      <Avatar name={app.name} toneOf={app.clientId} picture={app.iconUrl} kind="app" size="xs" />
      <span>{words.continueTo(app.name)}</span>
    </div>
  )
}

function InvitationLine({ invitation: { organization, role } }: { invitation: NonNullable<Props['invitation']> }) {
  const { join, roles } = usePageMessages({ en, de, ar })
  return (
    <div class="context-line">
      <Avatar
        name={organization.name}
        toneOf={organization.id}
        picture={organization.logoUrl}
        kind="organization"
        size="xs"
      />
      <span>{join(organization.name, roles[role])}</span>
    </div>
  )
}
