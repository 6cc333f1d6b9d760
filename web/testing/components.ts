/**
 * Lets `node --test` load components: TSX is compiled by the transformer of Vite, and style sheets are empty modules.
 * `node --import ./web/testing/components.ts` sets it up (`tools/test.ts` does for `*.component.test.ts`).
 */
import { readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { fileURLToPath } from 'node:url'
import { transformSync } from 'rolldown/utils'

const jsx = { runtime: 'automatic', importSource: 'preact' } as const

registerHooks({
  load(url, context, nextLoad) {
    if (url.endsWith('.css')) return { format: 'module', source: '', shortCircuit: true }
    if (!url.endsWith('.tsx')) return nextLoad(url, context)
    const path = fileURLToPath(url)
    const { code, errors } = transformSync(path, readFileSync(path, 'utf8'), { jsx })
    if (errors.length > 0) throw new SyntaxError(`${path}: ${errors.map(({ message }) => message).join('; ')}`)
    return { format: 'module', source: code, shortCircuit: true }
  },
})
