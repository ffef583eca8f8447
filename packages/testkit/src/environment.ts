/** Variables by which Jest's global setup tells the workers of its server; workers inherit them. */
export const TEST_ADMIN_URI = "WORKFLOW_TEST_ADMIN_URI";
export const TEST_TEMPLATE = "WORKFLOW_TEST_TEMPLATE";
