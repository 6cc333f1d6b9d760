import { after, before } from 'node:test'
import { basicModules } from './basic-modules.ts'
import { openConformanceEnv, type ConformanceEnv } from './environment/environment.ts'
import { runPlan } from './plan.ts'

let env: ConformanceEnv
before(async () => {
  env = await openConformanceEnv('query')
})
after(() => env.close())

runPlan('Basic OP', basicModules, () => env)
