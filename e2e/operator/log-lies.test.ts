/**
 * An operator who lies about signing keys and their log, against unmodified pages, SDK and command line. Each group
 * starts the product once. Everybody first succeeds with the honest service, by the steps that the lie then stops.
 */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser } from 'playwright-core'
import { launchBrowser } from '../fixtures/environment.ts'
import { expectAlarm, expectRefusal, openScene, rotate, succeed, type Scene, type Signer } from './scene.ts'

let browser: Browser
let scene: Scene
let ada: Signer
before(async () => {
  browser = await launchBrowser()
})
after(() => browser.close())

/** Before the tests of a group: all succeed with the honest service, which then tells the lie. */
function afterHonesty(lie: () => Promise<void>): void {
  before(async () => {
    scene = await openScene(browser)
    ada = await scene.enroll('ada')
    await succeed(scene, ada)
    await succeed(scene, ada)
    await lie()
  })
  after(async () => {
    await ada.leave()
    await scene.close()
  })
}

const watch = (state = 'seen') => scene.run('log', 'watch', '--state', state)

/** Expects that `log watch` fails, with the state of before the lie or with none. */
async function expectFailure(complaint: RegExp, state?: string): Promise<void> {
  const { code, stdout, stderr } = await watch(state)
  assert.deepEqual([code, stdout], [1, ''])
  assert.match(stderr, complaint)
}

describe('the row of a signing key is changed', () => {
  afterHonesty(() => scene.operator.lie('keyRowChanged', { identityId: ada.identityId }))

  test('LIE-10 the page of the owner stops', () => expectAlarm(ada, scene, 'foreign_key'))

  test('LIE-11 an app with trust refuses the key', () => expectRefusal(scene, ada, 'key_not_proved'))
})

describe('a key is rotated by the service', () => {
  afterHonesty(() => scene.operator.lie('keyRotated', { identityId: ada.identityId, isLinkForged: false }))

  test('LIE-12 the page of the owner stops', () => expectAlarm(ada, scene, 'foreign_key'))

  test('LIE-13 an app with trust refuses the key', () => expectRefusal(scene, ada, 'key_not_proved'))

  test('LIE-14 log watch counts the key as not proved, and fails if the link is forged', async () => {
    const { code, stdout } = await watch()
    assert.equal(code, 0)
    assert.match(stdout, /1 keys lack a proof\./)
    await scene.operator.lie('keyRotated', { identityId: ada.identityId, isLinkForged: true })
    await expectFailure(/is wrong: unlinked_key /)
    await expectRefusal(scene, ada, 'unlinked_key')
  })
})

describe('an entry is left out', () => {
  afterHonesty(() => {
    const { identityId, publicKey } = ada
    return scene.operator.lie('entryLeftOut', { identityId, publicKey })
  })

  test('LIE-15 the page of the owner stops', () => expectAlarm(ada, scene, 'leaf_missing'))

  test('LIE-16 an app with trust refuses the history', () => expectRefusal(scene, ada, 'history_rewritten'))

  test('LIE-17 log watch fails', () => expectFailure(/does not return entry 0 of its log/, 'another'))
})

/** Before the lie, another user has a key, whose entry all have seen. */
function afterAnother(strangers: number): void {
  afterHonesty(async () => {
    const bob = await scene.enroll('bob', 'Bob')
    await succeed(scene, ada)
    await bob.leave()
    await scene.operator.lie('logRebuilt', { withoutKey: bob.publicKey, strangers })
  })
}

describe('the log is forked', () => {
  afterAnother(3)

  test('LIE-18 the page of the owner stops', () => expectAlarm(ada, scene, 'log_forked'))

  test('LIE-19 an app with trust refuses the log', () => expectRefusal(scene, ada, 'log_forked'))

  test('LIE-20 log watch fails', () => expectFailure(/does not extend the last state/))
})

describe('the log loses entries', () => {
  afterAnother(0)

  test('LIE-24 the page of the owner stops', () => expectAlarm(ada, scene, 'log_forked'))

  test('LIE-25 an app with trust refuses the log', () => expectRefusal(scene, ada, 'log_rolled_back'))

  test('LIE-26 log watch fails', () => expectFailure(/has 1 entries, but had 2/))
})

describe('a replaced key returns', () => {
  afterHonesty(async () => {
    await rotate(scene, ada)
    await succeed(scene, ada)
    await scene.operator.lie('keyReturned', { identityId: ada.identityId })
  })

  test('LIE-27 the page of the owner stops', () => expectAlarm(ada, scene, 'key_used_before'))

  test('LIE-28 an app with trust refuses the key', () => expectRefusal(scene, ada, 'key_used_before'))

  test('LIE-29 log watch fails', () => expectFailure(/is wrong: key_used_before /))
})

describe('the entry of a rotation is dated back', () => {
  afterHonesty(async () => {
    await rotate(scene, ada)
    await succeed(scene, ada)
    await scene.operator.lie('entryDatedBack', {})
    await rotate(scene, ada)
  })

  test('LIE-21 the page of the owner stops', () => expectAlarm(ada, scene, 'time_went_back'))

  test('LIE-22 an app with trust refuses the history', () => expectRefusal(scene, ada, 'time_went_back'))

  test('LIE-23 log watch fails', () => expectFailure(/is wrong: time_went_back /))
})
