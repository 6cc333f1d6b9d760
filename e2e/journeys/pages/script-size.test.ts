import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { brotliCompressSync } from 'node:zlib'
import type { Response } from 'playwright-core'
import { openStage, type TestEnvironment } from '../../fixtures/environment.ts'

let stage: TestEnvironment
before(async () => {
  stage = await openStage()
})
after(() => stage.close())

const bytesMax = 60 * 1024

for (const locale of ['en-GB', 'de-DE', 'ar-EG'])
  test(`the sign-in page needs less than 60 KB of script, compressed, in ${locale}`, async () => {
    const ada = await stage.invite({ locale })
    const scripts: Response[] = []
    ada.page.on('response', (response) => {
      if (response.request().resourceType() === 'script') scripts.push(response)
    })
    await ada.page.goto(`${stage.shop.origin}/sign-in`)
    await ada.control('sign-in').waitFor()
    await ada.page.waitForLoadState('networkidle')

    assert.ok(scripts.length > 0)
    for (const script of scripts) assert.match((await script.allHeaders())['content-encoding'] ?? '', /^(br|gzip)$/)
    const bodies = await Promise.all(scripts.map((script) => script.body()))
    const bytes = bodies.reduce((sum, body) => sum + brotliCompressSync(body).length, 0)
    assert.ok(bytes < bytesMax, `${bytes} bytes`)
    await ada.leave()
  })
