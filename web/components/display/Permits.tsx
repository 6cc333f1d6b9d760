import type { ComponentChildren } from 'preact'

/** One thing that an app may do at another: by its scope, and in the words of the other app, if it has any. */
export type Permit = { scope: string; description: string }

/** What an app may do at another, in words, and by the names that both apps have for it; and what is beside that. */
export function Permits({ of, children }: { of: Permit[]; children?: ComponentChildren }) {
  return (
    <ul class="permits">
      {of.map(({ scope, description }) => (
        <li key={scope}>
          {description !== '' && <bdi>{description}</bdi>} <code>{scope}</code>
        </li>
      ))}
      {children}
    </ul>
  )
}
