import { after, before } from 'node:test'
import { openLeaving, type Leaving } from './ground/logout-ground.ts'
import { logoutModules } from './logout-modules.ts'
import { runPlan } from './plan.ts'

let leaving: Leaving
before(async () => {
  leaving = await openLeaving()
})
after(() => leaving.close())

runPlan('RP-Initiated Logout OP', logoutModules, () => leaving)
