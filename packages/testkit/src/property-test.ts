import { jest } from "@jest/globals";
import * as fc from "fast-check";

// The seed that Jest prints repeats both the values and the order of the cases.
fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: jest.getSeed() });

export { fc };
