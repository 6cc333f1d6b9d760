import { after, before } from 'node:test'
import { openLogoutEnv, type LogoutEnv } from './environment/logout-environment.ts'
import { logoutModules } from './logout-modules.ts'
import { runPlan } from './plan.ts'

let env: LogoutEnv
before(async () => {
  env = await openLogoutEnv()
})
after(() => env.close())

runPlan('RP-Initiated Logout OP', logoutModules, () => env)
