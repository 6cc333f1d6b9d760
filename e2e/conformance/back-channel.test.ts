import { after, before } from 'node:test'
import { backChannelModules } from './back-channel-modules.ts'
import { openLogoutEnv, type LogoutEnv } from './environment/logout-environment.ts'
import { runPlan } from './plan.ts'

let env: LogoutEnv
before(async () => {
  env = await openLogoutEnv()
})
after(() => env.close())

runPlan('Back-Channel RP-Initiated Logout OP', backChannelModules, () => env)
