import { createHash } from 'node:crypto'
import type { Config } from '#platform/config/config.ts'
import type { Host } from './host.ts'

/** Stylesheet with the color of the operator. The policy of a page permits no style in the page itself. */
export type BrandStyle = { path: string; mountOn: (host: Host) => void }

/** Creates the stylesheet of the operator's color, if there is one. */
export function createBrandStyle({ brand: { accent } }: Pick<Config, 'brand'>): BrandStyle | undefined {
  if (!accent) return undefined
  const { light, dark } = accent
  const pair = (name: keyof typeof light) => `light-dark(${light[name]}, ${dark[name]})`
  const css = `@layer tokens{:root{--pen:${pair('pen')};--pen-deep:${pair('deep')};--pen-tint:${pair('tint')}}}\n`
  const path = `/assets/brand-${createHash('sha256').update(css).digest('base64url').slice(0, 8)}.css`
  return {
    path,
    mountOn(host) {
      host.route({
        method: 'GET',
        url: path,
        config: { security: 'none', cors: 'no origin', host: 'every host' },
        handler: (_request, reply) =>
          reply
            .header('cache-control', 'public, max-age=31536000, immutable')
            .type('text/css; charset=utf-8')
            .send(css),
      })
    },
  }
}
