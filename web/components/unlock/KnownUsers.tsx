import { useState } from 'preact/hooks'
import { forgetUser, readKnownUsers, type KnownUser } from '../../lib/session/known-users.ts'
import type { ActionState } from '../form/use-actions.ts'
import { useMessages } from '../frame/Root.tsx'
import { toast } from '../frame/toast.ts'
import { Avatar, Person } from '../ui/Avatar.tsx'
import { Icon } from '../ui/Icon.tsx'
import { atHandle } from '../../lib/text/handle.ts'

/** The users that this browser knows, and what forgets one of them. */
export function useKnownUsers() {
  const words = useMessages().login
  const [users, setUsers] = useState(readKnownUsers)
  const forget = ({ userId, displayName }: KnownUser) => {
    forgetUser(userId)
    setUsers(readKnownUsers())
    toast(words.forgotten(displayName))
  }
  return { users, forget }
}

type Props = {
  users: KnownUser[]
  doing: ActionState
  onContinue: (user: KnownUser) => Promise<void>
  onForget: (user: KnownUser) => void
}

/** Offers to continue as a user who has signed in with this browser before. */
export function KnownUsers({ users, doing, onContinue, onForget }: Props) {
  const words = useMessages().login
  return (
    <ul class="stack known-users">
      {users.map((user, index) => {
        const { userId, handle, displayName, avatarUrl } = user
        return (
          <li key={userId} class="known-user">
            <button
              type="button"
              class={index === 0 ? 'continue first' : 'continue'}
              data-action="continue-as"
              aria-busy={doing.current === `continue-as-${userId}`}
              aria-disabled={doing.current !== undefined}
              onClick={() => void doing.perform({ name: `continue-as-${userId}`, do: () => onContinue(user) })}
            >
              <Person
                avatar={<Avatar name={displayName} toneOf={handle} picture={avatarUrl} />}
                name={words.continueAs(displayName)}
                detail={`${atHandle(handle)} · ${words.lastHere}`}
              />
              <Icon name="fingerprint-pattern" />
            </button>
            <button
              type="button"
              class="button square ghost"
              data-action="forget-user"
              aria-label={words.forget(displayName)}
              onClick={() => onForget(user)}
            >
              <Icon name="x" />
            </button>
          </li>
        )
      })}
    </ul>
  )
}
