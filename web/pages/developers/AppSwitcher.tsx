import { Avatar, Person } from '../../components/ui/Avatar.tsx'
import { Icon } from '../../components/ui/Icon.tsx'
import { Menu } from '../../components/ui/Menu.tsx'
import type { OwnApp } from './Developers.tsx'
import type { Navigate } from './routes.ts'
import { useMessages } from './words.ts'

type Props = { apps: OwnApp[]; current: OwnApp; goTo: Navigate }

/** Goes from one app to another, or to a new one. */
export function AppSwitcher({ apps, current, goTo }: Props) {
  const words = useMessages().developers
  const state = current.status === 'disabled' ? words.disabled : words.yourApp
  return (
    <Menu
      label={words.switchApp(current.name, state)}
      look="context"
      trigger={
        <>
          <Person avatar={<AppAvatar app={current} size="sm" />} name={current.name} detail={state} />
          <Icon name="chevrons-up-down" size="sm" />
        </>
      }
      items={[
        ...apps.map((app) => ({
          label: (
            <span class="row">
              <AppAvatar app={app} size="xs" /> {app.name}
            </span>
          ),
          pressed: app === current,
          onChoose: () => goTo({ at: 'app', clientId: app.clientId, tab: 'quickstart' }),
        })),
        'divider' as const,
        { label: words.newTitle, icon: 'plus' as const, onChoose: () => goTo({ at: 'new' }) },
      ]}
    />
  )
}

export function AppAvatar({ app, size }: { app: OwnApp; size?: 'xs' | 'sm' | 'lg' }) {
  return <Avatar name={app.name} toneOf={app.clientId} picture={app.iconUrl} kind="app" size={size} />
}
