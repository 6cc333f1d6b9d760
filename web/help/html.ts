import icons from '../components/ui/icons.json' with { type: 'json' }

type IconName = keyof typeof icons

/** Escapes text for the content of an element or a quoted attribute. */
export function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')
}

/** Draws an icon. It is an ornament: a text beside it says the same. */
export function iconOf(name: IconName, look = ''): string {
  return `<svg class="icon${look && ` ${look}`}" viewBox="0 0 24 24" aria-hidden="true">${icons[name]}</svg>`
}

/** Joins pieces of markup, without those that are absent. */
export function join(...parts: (string | false | undefined)[]): string {
  return parts.filter(Boolean).join('\n')
}
