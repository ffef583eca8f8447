/** A record as HubSpot answers it. */
export const record = {
  id: "512",
  properties: { email: "ada@example.com" },
  createdAt: "2026-11-22T10:00:00.000Z",
  updatedAt: "2026-11-22T10:00:00.000Z",
  archived: false,
};
