import { after, before } from 'node:test'
import { basicModules } from './basic-modules.ts'
import { openConformanceEnv, type ConformanceEnv } from './environment/environment.ts'
import { runPlan } from './plan.ts'

let env: ConformanceEnv
before(async () => {
  env = await openConformanceEnv('form_post')
})
after(() => env.close())

runPlan('Form Post OP', basicModules, () => env)
