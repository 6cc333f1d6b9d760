import { icons, type IconName } from './icons.ts'

export type { IconName }

type Props = { name: IconName; size?: 'sm' | 'lg' | undefined; class?: string }

/** Draws an icon in the color of the text. It is an ornament: the text beside it or the label of its button says the same. */
export function Icon({ name, size, class: look = '' }: Props) {
  return (
    <svg
      class={['icon', size, look].filter(Boolean).join(' ')}
      viewBox="0 0 24 24"
      aria-hidden="true"
      dangerouslySetInnerHTML={{ __html: icons[name] }}
    />
  )
}
