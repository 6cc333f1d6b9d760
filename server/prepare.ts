import { makeTemplate } from '#platform/database/database-template.ts'

// Run by npm after an installation, so that the first start need not do it.
await makeTemplate()
