import { after, before } from 'node:test'
import { furtherModules } from './further-modules.ts'
import { openConformanceEnv, type ConformanceEnv } from './environment/environment.ts'
import { runPlan } from './plan.ts'

let env: ConformanceEnv
before(async () => {
  env = await openConformanceEnv('query')
})
after(() => env.close())

runPlan('Further modules', furtherModules, () => env)
