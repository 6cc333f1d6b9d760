import icons from './icons.json' with { type: 'json' }

/** An icon of Lucide 1.62.0 (ISC License, https://lucide.dev/license), by its name there. */
export type IconName = keyof typeof icons

/** Icons that mean a direction of reading, and therefore point the other way from right to left. */
const directed: ReadonlySet<IconName> = new Set<IconName>([
  'arrow-left',
  'arrow-right',
  'chevron-left',
  'chevron-right',
  'external-link',
  'log-in',
  'log-out',
])

type Props = { name: IconName; size?: 'sm' | 'lg' | undefined; class?: string }

/**
 * Draws an icon in the color of the text. It is an ornament: the text beside it or the label of its button says the
 * same.
 */
export function Icon({ name, size, class: look = '' }: Props) {
  return (
    <svg
      class={['icon', size, directed.has(name) ? 'flips' : '', look].filter(Boolean).join(' ')}
      viewBox="0 0 24 24"
      aria-hidden="true"
      dangerouslySetInnerHTML={{ __html: icons[name] }}
    />
  )
}
