import { createEmbeddedTemplate } from '#platform/database/embedded.ts'

// Runs by npm after an installation, so that the first start is faster.
await createEmbeddedTemplate()
