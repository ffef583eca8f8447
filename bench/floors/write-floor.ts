import { randomUUID } from "node:crypto";
import express from "express";
import { bareExpress, runFloor } from "./floor.ts";

/** The floor under every write: bare Express and one insert, committed durably, of the same body. */
runFloor(
  "create table if not exists bench.inputs (id uuid primary key, body json not null)",
  async ({ database }) => {
    const app = bareExpress();
    app.use(express.json());
    app.post("/inputs", async (request, response) => {
      const id = randomUUID();
      await database.query({
        name: "insert-input",
        text: "insert into bench.inputs (id, body) values ($1, $2)",
        values: [id, JSON.stringify(request.body)],
      });
      response.status(202).json({ success: true, data: { id } });
    });
    return app;
  },
);
