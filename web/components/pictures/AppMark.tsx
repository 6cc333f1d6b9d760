import { Avatar } from '../ui/Avatar.tsx'
import './app-mark.css'

type Props = { clientId: string; name: string; picture: string | null; color: string | null }

/** Shows the logo of an app over a bar in its color. The color is an ornament: nothing is written in it or on it. */
export function AppMark({ clientId, name, picture, color }: Props) {
  return (
    <span class="app-mark">
      <Avatar name={name} toneOf={clientId} picture={picture} kind="app" size="lg" />
      {color !== null && (
        <svg viewBox="0 0 52 4" aria-hidden="true">
          <rect width="52" height="4" rx="2" fill={color} />
        </svg>
      )}
    </span>
  )
}
