import { createHash } from 'node:crypto'
import { type AccentColor, accentOf } from '@countersign/protocol/formats/looks/accent'
import { Type } from 'typebox'
import type { Host } from './host.ts'

/** Stylesheet with the color of the operator. The policy of a page permits no style in the page itself. */
type BrandStyle = { name: string; css: string }

function writeStyle({ hex, light, dark }: AccentColor): BrandStyle {
  const pair = (name: keyof typeof light) => `light-dark(${light[name]}, ${dark[name]})`
  const css = `@layer tokens{:root{--pen:${pair('pen')};--pen-deep:${pair('deep')};--pen-tint:${pair('tint')}}}\n`
  // Another version of the service may derive other shades from the same color.
  const digest = createHash('sha256').update(css).digest('base64url').slice(0, 2)
  return { name: `${hex.slice(1)}${digest}`, css }
}

/** The color of the last page. Nearly all pages have the same one. */
let last: { hex: string; path: string | undefined } | undefined

/** Returns the path of the stylesheet with a color, on every host, or undefined if there is no color. */
export function brandStylePath(hex: string | undefined): string | undefined {
  if (hex === undefined) return undefined
  if (last?.hex !== hex) {
    const accent = accentOf(hex)
    last = { hex, path: accent && `/assets/brand-${writeStyle(accent).name}.css` }
  }
  return last.path
}

/**
 * Registers the stylesheets. The path contains the color, because a process that has not read a change yet is also
 * asked for its stylesheet.
 */
export function mountBrandStyles(host: Host): void {
  host.route({
    method: 'GET',
    url: '/assets/brand-:name.css',
    schema: { params: Type.Object({ name: Type.String() }) },
    config: { security: 'none', cors: 'no origin', host: 'every host' },
    handler({ params: { name } }, reply) {
      const accent = accentOf(`#${name.slice(0, 6)}`)
      const style = accent && writeStyle(accent)
      if (style?.name !== name) return reply.callNotFound()
      return reply
        .header('cache-control', 'public, max-age=31536000, immutable')
        .type('text/css; charset=utf-8')
        .send(style.css)
    },
  })
}
