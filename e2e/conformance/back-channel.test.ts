import { after, before } from 'node:test'
import { backChannelModules } from './back-channel-modules.ts'
import { openLeaving, type Leaving } from './ground/logout-ground.ts'
import { runPlan } from './plan.ts'

let leaving: Leaving
before(async () => {
  leaving = await openLeaving()
})
after(() => leaving.close())

runPlan('Back-Channel RP-Initiated Logout OP', backChannelModules, () => leaving)
